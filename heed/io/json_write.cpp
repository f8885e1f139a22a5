// Writes the neutral tree as JSON. Numbers have the shortest text that reads back as the same
// number.
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/io/json.h"

namespace heed::io {
namespace {

class Writer {
 public:
  Writer(bool indented, std::size_t max_values) : indented_(indented), max_values_(max_values) {}

  std::string take() { return std::move(out_); }

  void append(const Value& value) {
    HEED_CHECK(++count_ <= max_values_,
               "[json] over {} values: a text with more of them cannot be read", max_values_);
    if (value.boolean()) {
      out_ += *value.boolean() ? "true" : "false";
    } else if (value.integer()) {
      out_ += fmt::format("{}", *value.integer());
    } else if (value.floating()) {
      out_ += number_text(*value.floating());
    } else if (value.string()) {
      out_ += quote_json(*value.string());
    } else if (value.list()) {
      append_items("[]", *value.list(), [&](const Value& item) { append(item); });
    } else if (value.table()) {
      append_items("{}", *value.table(), [&](const Member& member) {
        out_.append(quote_json(member.key)).append(indented_ ? ": " : ":");
        append(member.value);
      });
    } else {
      out_ += "null";
    }
  }

 private:
  // The items of a list or table between brackets; one line each if indented.
  template <typename Items, typename Item>
  void append_items(const char* brackets, const Items& items, Item item) {
    HEED_CHECK(++depth_ <= kMaxDepth, "[json] nested deeper than {}: such a text cannot be read",
               kMaxDepth);
    const bool on_lines = indented_ && !items.empty();
    out_ += brackets[0];
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ',';
      if (on_lines) begin_line(depth_);
      item(items[i]);
    }
    --depth_;
    if (on_lines) begin_line(depth_);
    out_ += brackets[1];
  }
  void begin_line(int depth) { out_.append("\n").append(2 * static_cast<std::size_t>(depth), ' '); }

  bool indented_;
  std::size_t max_values_;
  std::size_t count_ = 0;
  int depth_ = 0;
  std::string out_;
};

}  // namespace

std::string write_json(const Value& value, bool indented, std::size_t max_values) {
  Writer writer(indented, max_values);
  writer.append(value);
  return writer.take();
}

std::string quote_json(std::string_view text) {
  std::string out;
  try {
    out = nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    fail("[json] the string {} is not valid UTF-8", in_quotes(text));
  }
  // TOML forbids an unescaped DEL; JSON allows it escaped.
  for (std::size_t at = 0; (at = out.find('\x7f', at)) != std::string::npos;) {
    out.replace(at, 1, "\\u007f");
  }
  return out;
}

std::string number_text(double number) {
  HEED_CHECK(std::isfinite(number), "[json] the number {} is not finite: it cannot be written",
             number);
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace heed::io

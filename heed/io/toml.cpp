// TOML by toml++.
#include "heed/io/toml.h"

#include <toml++/toml.h>

#include <string>
#include <utility>

#include "heed/io/json.h"
#include "heed/io/toml_precheck.h"

namespace heed::io {
namespace {

Position position_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column, 0};
}

class Converter {
 public:
  explicit Converter(std::string_view source) : source_(source) {}

  Value convert(const toml::node& node, Position position, int depth) const {
    if (depth > kMaxDepth) {
      throw ParseError("toml", source_, position, fmt::format("nested deeper than {}", kMaxDepth));
    }
    Value value{{}, position};
    if (const auto* boolean = node.as_boolean()) {
      value.data = boolean->get();
    } else if (const auto* integer = node.as_integer()) {
      value.data = integer->get();
    } else if (const auto* floating = node.as_floating_point()) {
      value.data = floating->get();
    } else if (const auto* string = node.as_string()) {
      value.data = string->get();
    } else if (const auto* array = node.as_array()) {
      Value::List list;
      for (const toml::node& item : *array) {
        list.push_back(convert(item, position_of(item.source()), depth + 1));
      }
      value.data = std::move(list);
    } else {
      const auto* table = node.as_table();
      HEED_ASSERT(table);  // the only type left: the precheck rejects dates and times
      Value::Table members;
      for (const auto& [key, item] : *table) {
        Value member = convert(item, position_of(key.source()), depth + 1);
        members.push_back({std::string(key.str()), std::move(member)});
      }
      value.data = std::move(members);
    }
    return value;
  }

 private:
  std::string_view source_;
};

}  // namespace

Value parse_toml(std::string_view text, std::string_view source) {
  precheck_toml(text, source);
  try {
    const toml::table table = toml::parse(text);
    return Converter(source).convert(table, position_of(table.source()), 0);
  } catch (const toml::parse_error& e) {
    throw ParseError("toml", source, position_of(e.source()), std::string(e.description()));
  }
}

std::string toml_text(const Value& value) {
  HEED_ASSERT(!value.table());
  if (value.is_null()) return "\"none\"";
  if (!value.list()) return write_json(value, false);
  std::string text;
  for (const Value& item : *value.list()) {
    text.append(text.empty() ? "[" : ", ").append(toml_text(item));
  }
  return text.empty() ? "[]" : text + "]";
}

}  // namespace heed::io

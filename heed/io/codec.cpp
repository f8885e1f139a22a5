// The non-template parts of the codecs: numbers, strings, choices and lists.
#include "heed/io/codec.h"

#include <charconv>
#include <cmath>
#include <span>

#include "heed/base/suggest.h"
#include "heed/io/toml.h"

namespace heed::io::detail {
namespace {

std::string place(const Value& value, const FieldContext& context) {
  return to_string(context.source, value.position);
}

[[noreturn]] void fail_type(const Value& value, const FieldContext& context,
                            std::string_view expected) {
  fail("[config] {}: {} must be {}, found {}", place(value, context), context.path, expected,
       describe(value));
}

template <typename Number>
void check_limits(Number number, const Value& value, const FieldContext& context) {
  const auto wide = static_cast<double>(number);
  HEED_CHECK(wide >= context.limits.min && wide <= context.limits.max,
             "[config] {}: {} is {}: it must be {}", place(value, context), context.path, number,
             limits_text(context.limits));
}

double read_number(const Value& value, const FieldContext& context) {
  if (value.integer()) return static_cast<double>(*value.integer());
  if (!value.floating()) fail_type(value, context, "a number");
  HEED_CHECK(std::isfinite(*value.floating()), "[config] {}: {} is {}: it must be finite",
             place(value, context), context.path, *value.floating());
  return *value.floating();
}

}  // namespace

bool Codec<bool>::read(const Value& value, const FieldContext& context) {
  if (!value.boolean()) fail_type(value, context, "true or false");
  return *value.boolean();
}

Value Codec<bool>::parse(std::string_view text) {
  if (text == "true" || text == "false") return {text == "true"};
  return {std::string(text)};  // read() refuses it with the full message
}

double Codec<double>::read(const Value& value, const FieldContext& context) {
  const double number = read_number(value, context);
  check_limits(number, value, context);
  return number;
}

Value Codec<double>::write(double member) {
  HEED_CHECK(std::isfinite(member), "{} cannot be written: numbers in a config are finite", member);
  return {member};
}

Value Codec<double>::parse(std::string_view text) { return parse_number(text); }

float Codec<float>::read(const Value& value, const FieldContext& context) {
  const double number = Codec<double>::read(value, context);
  const auto narrow = static_cast<float>(number);
  HEED_CHECK(std::isfinite(narrow), "[config] {}: {} is {}: beyond the range of a float",
             place(value, context), context.path, number);
  return narrow;
}

Value Codec<float>::write(float member) {
  if (!std::isfinite(member)) return Codec<double>::write(member);
  // The double with the same shortest text as the float: 0.1f is written 0.1, not
  // 0.10000000149011612.
  const std::string text = fmt::format("{}", member);
  double wide = 0;
  std::from_chars(text.data(), text.data() + text.size(), wide);
  return {static_cast<float>(wide) == member ? wide : static_cast<double>(member)};
}

std::string Codec<std::string>::read(const Value& value, const FieldContext& context) {
  if (!value.string()) fail_type(value, context, "a string");
  return *value.string();
}

void fail_text(const Value& value, const FieldContext& context, const Error& error) {
  fail("[config] {}: {}", to_string(context.source, value.position), error.what());
}

std::int64_t read_integer(const Value& value, const FieldContext& context, std::int64_t min,
                          std::int64_t max) {
  if (value.floating() && std::trunc(*value.floating()) == *value.floating()) {
    fail_type(value, context, "an integer, without point or exponent, of at most 64 bits");
  }
  if (!value.integer()) fail_type(value, context, "an integer");
  const std::int64_t number = *value.integer();
  HEED_CHECK(number >= min && number <= max, "[config] {}: {} is {}: it must be from {} to {}",
             place(value, context), context.path, number, min, max);
  check_limits(number, value, context);
  return number;
}

Value parse_number(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto r = std::from_chars(text.data(), end, integer);
      r.ec == std::errc{} && r.ptr == end) {
    return {integer};
  }
  double floating = 0;
  if (const auto r = std::from_chars(text.data(), end, floating);
      r.ec == std::errc{} && r.ptr == end) {
    return {floating};
  }
  return {std::string(text)};  // read() refuses it with the full message
}

std::size_t read_choice(const Value& value, const FieldContext& context, const Names& names) {
  if (!value.string()) fail_type(value, context, "one of " + join(names, ", "));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == *value.string()) return i;
  }
  const std::string_view guess = nearest(*value.string(), names);
  fail("[config] {}: {} is {}: it must be one of {}{}", place(value, context), context.path,
       in_quotes(*value.string()), join(names, ", "),
       guess.empty() ? "" : fmt::format("; did you mean {}?", guess));
}

std::string join(const Names& names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

const Value::List& expect_list(const Value& value, const FieldContext& context) {
  if (!value.list()) fail_type(value, context, "a list");
  return *value.list();
}

std::optional<Value> parse_bracketed_list(std::string_view text) {
  if (!text.starts_with('[')) return std::nullopt;
  Value document = parse_toml(fmt::format("list = {}", text), text);
  Value::Table& table = std::get<Value::Table>(document.data);
  HEED_CHECK(table.size() == 1, "[config] {} is more than one list", in_quotes(text));
  return std::move(table.front().value);
}

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    items.push_back(item);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

std::string limits_text(const Limits& limits) {
  if (std::isinf(limits.min) && std::isinf(limits.max)) return "";
  if (std::isinf(limits.max)) return fmt::format("at least {}", limits.min);
  if (std::isinf(limits.min)) return fmt::format("at most {}", limits.max);
  return fmt::format("from {} to {}", limits.min, limits.max);
}

bool is_none(const Value& value) {
  return value.is_null() || (value.string() && *value.string() == kNone);
}

}  // namespace heed::io::detail

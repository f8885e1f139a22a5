// Reads, writes and describes one member of a config, for each type that a member may have.
// fields.h binds members to these codecs; this file changes only for new field types.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/io/value.h"

namespace heed::io {

/// The smallest and largest allowed value of a number (or of each number of a list).
struct Limits {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

/// The name of one value of an enum. An enum can be a field if a function `enum_names(E)`, declared
/// next to the enum, returns an array of these.
template <typename E>
struct EnumName {
  E value;
  std::string_view name;
};

/// The name of an enum's value.
template <typename E>
constexpr std::string_view enum_name(E value) {
  for (const auto& entry : enum_names(E{})) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

/// The field being read, for messages.
struct FieldContext {
  std::string_view source;
  std::string path;
  Limits limits;
};

namespace detail {

// Reads a member of type T from the tree, writes it to the tree, parses it from the text of a flag
// and names its type in help. Errors of write() describe only the value; the caller adds the name
// of the member.
template <typename T>
struct Codec;

template <>
struct Codec<bool> {
  static bool read(const Value& value, const FieldContext& context);
  static Value write(bool member) { return {member}; }
  static Value parse(std::string_view text);
  static std::string type_name() { return "true|false"; }
};

template <>
struct Codec<double> {
  static double read(const Value& value, const FieldContext& context);
  static Value write(double member);
  static Value parse(std::string_view text);
  static std::string type_name() { return "number"; }
};

template <>
struct Codec<float> {
  static float read(const Value& value, const FieldContext& context);
  static Value write(float member);
  static Value parse(std::string_view text) { return Codec<double>::parse(text); }
  static std::string type_name() { return "number"; }
};

template <>
struct Codec<std::string> {
  static std::string read(const Value& value, const FieldContext& context);
  static Value write(const std::string& member) { return {member}; }
  static Value parse(std::string_view text) { return {std::string(text)}; }
  static std::string type_name() { return "string"; }
};

/// Configs hold signed 64-bit integers, as TOML does, so larger values of an unsigned member are
/// out of range.
template <std::integral T>
struct IntegerRange {
  static constexpr std::int64_t kMin = std::is_signed_v<T> ? std::numeric_limits<T>::min() : 0;
  static constexpr std::int64_t kMax =
      std::in_range<std::int64_t>(std::numeric_limits<T>::max())
          ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
          : std::numeric_limits<std::int64_t>::max();
};
std::int64_t read_integer(const Value& value, const FieldContext& context, std::int64_t min,
                          std::int64_t max);
Value parse_number(std::string_view text);

template <std::integral T>
struct Codec<T> {
  static T read(const Value& value, const FieldContext& context) {
    return static_cast<T>(
        read_integer(value, context, IntegerRange<T>::kMin, IntegerRange<T>::kMax));
  }
  static Value write(T member) {
    HEED_CHECK(std::in_range<std::int64_t>(member),
               "{} cannot be written: the greatest integer in a config is 2^63 - 1", member);
    return {static_cast<std::int64_t>(member)};
  }
  static Value parse(std::string_view text) { return parse_number(text); }
  static std::string type_name() { return "integer"; }
};

using Names = std::vector<std::string_view>;
std::size_t read_choice(const Value& value, const FieldContext& context, const Names& names);
std::string join(const Names& names, std::string_view separator);

template <typename E>
requires std::is_enum_v<E>
struct Codec<E> {
  static Names names() {
    Names all;
    for (const auto& entry : enum_names(E{})) all.push_back(entry.name);
    return all;
  }
  static E read(const Value& value, const FieldContext& context) {
    const std::size_t choice = read_choice(value, context, names());
    return std::begin(enum_names(E{}))[choice].value;
  }
  static Value write(E member) {
    for (const auto& entry : enum_names(E{})) {
      if (entry.value == member) return {std::string(entry.name)};
    }
    fail("{} has no name among {}", static_cast<long long>(member), join(names(), ", "));
  }
  static Value parse(std::string_view text) { return {std::string(text)}; }
  static std::string type_name() { return join(names(), "|"); }
};

/// A value that configs write as a text: made from it, checked, and given back by text().
template <typename T>
concept TextValue = std::constructible_from<T, std::string_view> && requires(const T& value) {
  { value.text() } -> std::convertible_to<std::string>;
};

/// Throws the error of a text again, with the place of the value.
[[noreturn]] void fail_text(const Value& value, const FieldContext& context, const Error& error);

template <TextValue T>
struct Codec<T> {
  static T read(const Value& value, const FieldContext& context) {
    const std::string text = Codec<std::string>::read(value, context);
    try {
      return T(std::string_view(text));
    } catch (const Error& error) {
      fail_text(value, context, error);
    }
  }
  static Value write(const T& member) { return {std::string(member.text())}; }
  static Value parse(std::string_view text) { return {std::string(text)}; }
  static std::string type_name() { return "string"; }
};

const Value::List& expect_list(const Value& value, const FieldContext& context);
std::optional<Value> parse_bracketed_list(std::string_view text);
std::vector<std::string_view> split_commas(std::string_view text);

template <typename T>
struct Codec<std::vector<T>> {
  static std::vector<T> read(const Value& value, const FieldContext& context) {
    std::vector<T> items;
    for (const Value& item : expect_list(value, context)) {
      const std::string path = fmt::format("{}[{}]", context.path, items.size());
      items.push_back(Codec<T>::read(item, {context.source, path, context.limits}));
    }
    return items;
  }
  static Value write(const std::vector<T>& member) {
    Value::List list;
    for (const auto& item : member) list.push_back(Codec<T>::write(item));
    return {std::move(list)};
  }
  /// "[1, 2]" as in TOML, or "1,2".
  static Value parse(std::string_view text) {
    if (std::optional<Value> list = parse_bracketed_list(text)) return *std::move(list);
    Value::List list;
    for (const std::string_view item : split_commas(text)) list.push_back(Codec<T>::parse(item));
    return {std::move(list)};
  }
  static std::string type_name() { return "list of " + Codec<T>::type_name(); }
};

/// The value of an unset optional: "none" in TOML and flags, null (or "none") in JSON. TOML has no
/// null, and a missing key means the default.
inline constexpr std::string_view kNone = "none";
bool is_none(const Value& value);

template <typename T>
struct Codec<std::optional<T>> {
  static std::optional<T> read(const Value& value, const FieldContext& context) {
    if (is_none(value)) return std::nullopt;
    return Codec<T>::read(value, context);
  }
  static Value write(const std::optional<T>& member) {
    if (!member) return {};
    Value value = Codec<T>::write(*member);
    HEED_CHECK(!is_none(value), "the string \"none\" cannot be written: it means unset");
    return value;
  }
  static Value parse(std::string_view text) {
    return text == kNone ? Value{} : Codec<T>::parse(text);
  }
  static std::string type_name() { return fmt::format("{} or none", Codec<T>::type_name()); }
};

/// "at least 1", "from 0 to 1", or an empty string.
std::string limits_text(const Limits& limits);

// A type-erased Codec.
struct AnyCodec {
  void (*read)(void* member, const Value& value, const FieldContext& context);
  Value (*write)(const void* member);
  Value (*parse)(std::string_view text);
  std::string (*type_name)();
};

template <typename T>
inline constexpr AnyCodec kCodec = {
    [](void* member, const Value& value, const FieldContext& context) {
      *static_cast<T*>(member) = Codec<T>::read(value, context);
    },
    [](const void* member) { return Codec<T>::write(*static_cast<const T*>(member)); },
    &Codec<T>::parse,
    &Codec<T>::type_name,
};

}  // namespace detail
}  // namespace heed::io

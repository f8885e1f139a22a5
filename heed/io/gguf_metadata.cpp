#include "heed/io/gguf_metadata.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "heed/io/value.h"

namespace heed::io {
namespace {

constexpr std::uint64_t kMaxGgufKeys = 1 << 16;            // real files have a few dozen
constexpr std::uint64_t kMaxGgufKeyBytes = (1 << 16) - 1;  // the format's limit
constexpr std::size_t kShownElements = 6;                  // elements of an array in to_string()

struct ValueTypeInfo {
  std::string_view name;
  std::size_t bytes;  // 0 if it varies
};
constexpr ValueTypeInfo kValueTypes[] = {
    {"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

const ValueTypeInfo& info(GgufType type) { return kValueTypes[static_cast<std::size_t>(type)]; }

GgufType read_gguf_type(ByteReader& reader, std::string_view what) {
  const auto number = reader.number<std::uint32_t>(what);
  if (number >= std::size(kValueTypes)) {
    reader.refuse_at(reader.file_byte() - 4, "{} is {}: value types are 0 to {}", what, number,
                     std::size(kValueTypes) - 1);
  }
  return static_cast<GgufType>(number);
}

bool read_gguf_bool(ByteReader& reader) {
  const auto byte = reader.number<std::uint8_t>("a bool");
  if (byte > 1) reader.refuse_at(reader.file_byte() - 1, "a bool is {}: it must be 0 or 1", byte);
  return byte == 1;
}

std::string_view read_gguf_text(ByteReader& reader, std::string_view what) {
  const auto size = reader.number<std::uint64_t>("the length of a string");
  return reader.text(size, what);
}

GgufArray read_gguf_array(ByteReader& reader, int depth);

// Moves after `count` elements and checks them.
void skip_gguf_elements(ByteReader& reader, GgufType type, std::uint64_t count, int depth) {
  const std::size_t fixed = info(type).bytes;
  // A string has at least its length, an array its type and its count.
  const std::size_t smallest = fixed != 0 ? fixed : type == GgufType::string ? 8 : 12;
  if (count > reader.left() / smallest) {
    reader.refuse(
        "an array of {} elements of type {} needs at least {} bytes each, and {} are "
        "left: the file is cut off or damaged",
        count, info(type).name, smallest, reader.left());
  }
  if (type == GgufType::boolean) {
    for (std::uint64_t i = 0; i < count; ++i) read_gguf_bool(reader);
  } else if (type == GgufType::string) {
    for (std::uint64_t i = 0; i < count; ++i) read_gguf_text(reader, "a string");
  } else if (type == GgufType::array) {
    for (std::uint64_t i = 0; i < count; ++i) read_gguf_array(reader, depth + 1);
  } else {
    reader.take(count * fixed, "an array");
  }
}

GgufArray read_gguf_array(ByteReader& reader, int depth) {
  if (depth > kMaxGgufDepth) {
    reader.refuse("arrays are nested more than {} deep", kMaxGgufDepth);
  }
  GgufArray array;
  array.type = read_gguf_type(reader, "the element type of an array");
  array.count = reader.number<std::uint64_t>("the length of an array");
  ByteReader start = reader;
  skip_gguf_elements(reader, array.type, array.count, depth);
  array.bytes = start.take(reader.at() - start.at(), "an array");
  return array;
}

GgufValue read_value_at(ByteReader& reader, GgufType type, int depth) {
  const auto whole = [&](auto number) -> GgufValue {
    if constexpr (std::is_signed_v<decltype(number)>) {
      return {type, static_cast<std::int64_t>(number)};
    } else {
      return {type, static_cast<std::uint64_t>(number)};
    }
  };
  switch (type) {
    case GgufType::u8:
      return whole(reader.number<std::uint8_t>("a u8"));
    case GgufType::i8:
      return whole(reader.number<std::int8_t>("an i8"));
    case GgufType::u16:
      return whole(reader.number<std::uint16_t>("a u16"));
    case GgufType::i16:
      return whole(reader.number<std::int16_t>("an i16"));
    case GgufType::u32:
      return whole(reader.number<std::uint32_t>("a u32"));
    case GgufType::i32:
      return whole(reader.number<std::int32_t>("an i32"));
    case GgufType::u64:
      return whole(reader.number<std::uint64_t>("a u64"));
    case GgufType::i64:
      return whole(reader.number<std::int64_t>("an i64"));
    case GgufType::f32:
      return {type, static_cast<double>(reader.number<float>("an f32"))};
    case GgufType::f64:
      return {type, reader.number<double>("an f64")};
    case GgufType::boolean:
      return {type, read_gguf_bool(reader)};
    case GgufType::string:
      return {type, read_gguf_text(reader, "a string")};
    case GgufType::array:
      return {type, read_gguf_array(reader, depth)};
  }
  __builtin_unreachable();
}

// Calls f(value) for the first `limit` elements of an array that was checked when it was read.
template <typename F>
void for_each_gguf_element(const GgufArray& array, std::uint64_t limit, const F& f) {
  ByteReader reader(array.bytes, "gguf", "metadata");
  for (std::uint64_t i = 0; i < std::min(array.count, limit); ++i) {
    f(read_value_at(reader, array.type, 1));
  }
}

std::optional<std::int64_t> gguf_integer(const GgufValue& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value.data)) return *n;
  const auto* n = std::get_if<std::uint64_t>(&value.data);
  if (n && *n <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return static_cast<std::int64_t>(*n);
  }
  return std::nullopt;
}

std::optional<double> gguf_number(const GgufValue& value) {
  if (const auto* x = std::get_if<double>(&value.data)) return *x;
  if (const auto* n = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*n);
  if (const auto* n = std::get_if<std::uint64_t>(&value.data)) return static_cast<double>(*n);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(GgufType type) { return info(type).name; }

GgufValue read_gguf_value(ByteReader& reader, GgufType type) {
  return read_value_at(reader, type, 1);
}

std::string to_string(const GgufValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value.data)) return std::string(*text);
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  const auto* array = std::get_if<GgufArray>(&value.data);
  if (!array) {
    return std::visit(
        [](const auto& x) {
          if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(x)>>) {
            return fmt::format("{}", x);
          } else {
            return std::string();
          }
        },
        value.data);
  }
  std::string text = fmt::format("[{} x {}", array->count, info(array->type).name);
  std::string_view separator = ": ";
  for_each_gguf_element(*array, kShownElements, [&](const GgufValue& element) {
    const auto* string = std::get_if<std::string_view>(&element.data);
    text.append(separator).append(string ? in_quotes(*string) : to_string(element));
    separator = ", ";
  });
  return text + (array->count > kShownElements ? ", …]" : "]");
}

GgufMetadata::GgufMetadata(ByteReader& reader, std::uint64_t count) : source_(reader.source()) {
  if (count > kMaxGgufKeys) reader.refuse("{} metadata keys: the limit is {}", count, kMaxGgufKeys);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t byte = reader.file_byte();
    const auto size = reader.number<std::uint64_t>("the length of a metadata key");
    if (size == 0 || size > kMaxGgufKeyBytes) {
      reader.refuse_at(byte, "a metadata key has {} bytes: 1 to {} are allowed", size,
                       kMaxGgufKeyBytes);
    }
    const std::string_view key = reader.text(size, "a metadata key");
    const GgufType type = read_gguf_type(reader, fmt::format("the type of {}", in_quotes(key)));
    members_.push_back({key, read_value_at(reader, type, 1)});
    by_key_.push_back(static_cast<std::uint32_t>(i));
  }
  std::sort(by_key_.begin(), by_key_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return members_[a].key < members_[b].key; });
  const auto twice = std::adjacent_find(by_key_.begin(), by_key_.end(), [&](auto a, auto b) {
    return members_[a].key == members_[b].key;
  });
  HEED_CHECK(twice == by_key_.end(), "[gguf] {}: metadata key {} occurs twice", source_,
             in_quotes(members_[*twice].key));
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto it =
      std::lower_bound(by_key_.begin(), by_key_.end(), key,
                       [&](std::uint32_t i, std::string_view k) { return members_[i].key < k; });
  const bool found = it != by_key_.end() && members_[*it].key == key;
  return found ? &members_[*it].value : nullptr;
}

void GgufMetadata::wrong_type(std::string_view key, std::string_view expected) const {
  fail("[gguf] {}: metadata key {} is {} ({}), expected {}", source_, in_quotes(key),
       in_quotes(to_string(*find(key))), name_of(find(key)->type), expected);
}

const GgufArray* GgufMetadata::array(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return nullptr;
  const auto* array = std::get_if<GgufArray>(&value->data);
  if (!array) wrong_type(key, "an array");
  return array;
}

std::optional<std::int64_t> GgufMetadata::integer(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  const auto number = gguf_integer(*value);
  if (!number) wrong_type(key, "an integer below 2^63");
  return number;
}

std::optional<double> GgufMetadata::number(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  const auto number = gguf_number(*value);
  if (!number) wrong_type(key, "a number");
  return number;
}

std::optional<bool> GgufMetadata::boolean(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  const auto* flag = std::get_if<bool>(&value->data);
  if (!flag) wrong_type(key, "a bool");
  return *flag;
}

std::optional<std::string_view> GgufMetadata::text(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  const auto* text = std::get_if<std::string_view>(&value->data);
  if (!text) wrong_type(key, "a string");
  return *text;
}

std::optional<std::vector<std::string_view>> GgufMetadata::texts(std::string_view key) const {
  const GgufArray* values = array(key);
  if (!values) return std::nullopt;
  if (values->type != GgufType::string) wrong_type(key, "an array of strings");
  std::vector<std::string_view> texts;
  texts.reserve(values->count);
  for_each_gguf_element(*values, values->count, [&](const GgufValue& value) {
    texts.push_back(std::get<std::string_view>(value.data));
  });
  return texts;
}

std::optional<std::vector<std::int64_t>> GgufMetadata::integers(std::string_view key) const {
  const GgufArray* values = array(key);
  if (!values) return std::nullopt;
  std::vector<std::int64_t> integers;
  for_each_gguf_element(*values, values->count, [&](const GgufValue& value) {
    const auto number = gguf_integer(value);
    if (!number) wrong_type(key, "an array of integers below 2^63");
    integers.push_back(*number);
  });
  return integers;
}

std::optional<std::vector<double>> GgufMetadata::numbers(std::string_view key) const {
  const GgufArray* values = array(key);
  if (!values) return std::nullopt;
  std::vector<double> numbers;
  for_each_gguf_element(*values, values->count, [&](const GgufValue& value) {
    const auto number = gguf_number(value);
    if (!number) wrong_type(key, "an array of numbers");
    numbers.push_back(*number);
  });
  return numbers;
}

}  // namespace heed::io

// The metadata of a GGUF file: keys with typed values. Texts and arrays stay in the mapped file and
// are decoded when they are asked for, so that a vocabulary of 150,000 tokens costs nothing until
// it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/io/byte_reader.h"

namespace heed::io {

/// The type of a value, by its number in the file.
enum class GgufType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64,
};

/// "u32", "string", …
std::string_view name_of(GgufType type);

/// Elements of one type, as they are in the file. All have been checked.
struct GgufArray {
  GgufType type = GgufType::u8;
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;
};

/// A value and its type.
struct GgufValue {
  GgufType type = GgufType::u8;
  std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, GgufArray> data;
};

/// Reads and checks a value of that type. Arrays may be nested kMaxGgufDepth deep.
GgufValue read_gguf_value(ByteReader& reader, GgufType type);
inline constexpr int kMaxGgufDepth = 4;

/// The value as text: "32", "llama", "[3 x string: "a", "b", "c"]"; long arrays are shortened and
/// texts inside arrays are quoted.
std::string to_string(const GgufValue& value);

/// A key and its value.
struct GgufMember {
  std::string_view key;
  GgufValue value;
};

/// All keys of a file. A getter returns empty for a key that is absent and throws heed::Error for a
/// value of another type. The texts point into the file.
class GgufMetadata {
 public:
  GgufMetadata() = default;
  /// Reads `count` keys. A key that occurs twice is an error.
  GgufMetadata(ByteReader& reader, std::uint64_t count);

  /// In the order of the file.
  const std::vector<GgufMember>& members() const { return members_; }
  /// The value of that key, or null.
  const GgufValue* find(std::string_view key) const;

  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;  ///< A float or an integer.
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> text(std::string_view key) const;
  std::optional<std::vector<std::string_view>> texts(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<double>> numbers(std::string_view key) const;

 private:
  [[noreturn]] void wrong_type(std::string_view key, std::string_view expected) const;
  const GgufArray* array(std::string_view key) const;

  std::string source_;
  std::vector<GgufMember> members_;
  std::vector<std::uint32_t> by_key_;  // positions in members_, sorted by key
};

}  // namespace heed::io

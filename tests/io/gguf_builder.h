// Makes GGUF files with metadata and tensors of f32: small models and tokenizers for tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/shape.h"
#include "heed/io/gguf_metadata.h"
#include "tests/io/byte_builder.h"

namespace heed::io {

class GgufBuilder {
 public:
  GgufBuilder& text(std::string_view key, std::string_view value) {
    begin(key, GgufType::string).counted(value);
    return *this;
  }
  GgufBuilder& u32(std::string_view key, std::int64_t value) {
    begin(key, GgufType::u32).u32(static_cast<std::uint32_t>(value));
    return *this;
  }
  GgufBuilder& f32(std::string_view key, double value) {
    begin(key, GgufType::f32).number(static_cast<float>(value));
    return *this;
  }
  GgufBuilder& boolean(std::string_view key, bool value) {
    begin(key, GgufType::boolean).u8(value ? 1 : 0);
    return *this;
  }
  template <typename Text>
  GgufBuilder& texts(std::string_view key, const std::vector<Text>& values) {
    ByteBuilder& list = begin_list(key, GgufType::string, values.size());
    for (const Text& value : values) list.counted(value);
    return *this;
  }
  GgufBuilder& f32s(std::string_view key, const std::vector<float>& values) {
    ByteBuilder& list = begin_list(key, GgufType::f32, values.size());
    for (const float value : values) list.number(value);
    return *this;
  }
  GgufBuilder& i32s(std::string_view key, const std::vector<std::int32_t>& values) {
    ByteBuilder& list = begin_list(key, GgufType::i32, values.size());
    for (const std::int32_t value : values) list.number(value);
    return *this;
  }
  GgufBuilder& tensor(std::string_view name, const Shape& shape, std::span<const float> values) {
    table_.counted(name).u32(static_cast<std::uint32_t>(shape.rank()));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      table_.u64(static_cast<std::uint64_t>(shape[axis]));
    }
    data_.align(kAlignment);
    table_.u32(0).u64(data_.size());
    for (const float value : values) data_.number(value);
    ++tensors_;
    return *this;
  }

  /// The bytes of the file.
  std::string str() const {
    ByteBuilder file;
    file.text("GGUF").u32(3).u64(tensors_).u64(keys_).text(metadata_.str()).text(table_.str());
    return file.align(kAlignment).text(data_.str()).align(kAlignment).str();
  }

 private:
  static constexpr std::size_t kAlignment = 32;

  ByteBuilder& begin(std::string_view key, GgufType type) {
    ++keys_;
    return metadata_.counted(key).u32(static_cast<std::uint32_t>(type));
  }
  ByteBuilder& begin_list(std::string_view key, GgufType type, std::size_t count) {
    return begin(key, GgufType::array).u32(static_cast<std::uint32_t>(type)).u64(count);
  }

  ByteBuilder metadata_, table_, data_;
  std::uint64_t keys_ = 0, tensors_ = 0;
};

}  // namespace heed::io

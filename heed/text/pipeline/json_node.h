// A value of a JSON file together with its path, so that errors can say where they are:
// "tokenizer.json: pre_tokenizer.pretokenizers[1].type is …".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/value.h"

namespace heed::pipeline {

/// Reads a value with checks. It refers to the tree and to the name of the file, which must outlive
/// it.
class JsonNode {
 public:
  JsonNode(const io::Value& value, std::string_view source, std::string path = "")
      : value_(&value), source_(source), path_(std::move(path)) {}

  const io::Value& value() const { return *value_; }
  std::string_view source() const { return source_; }
  /// "tokenizer.json: model.vocab", for messages.
  std::string where() const;
  /// Throws heed::Error: where, what was found and what is expected.
  [[noreturn]] void refuse(std::string_view expected) const;

  /// The member with a key; absent or null: none. The node must be an object.
  std::optional<JsonNode> find(std::string_view key) const;
  /// The member with a key, which is required.
  JsonNode at(std::string_view key) const;
  /// The elements of a list.
  std::vector<JsonNode> list() const;
  /// An element of a list, for lists too long to copy.
  JsonNode element(const io::Value& value, std::size_t index) const;
  const io::Value::List& values() const;
  const io::Value::Table& members() const;

  const std::string& text() const;
  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  bool boolean() const;
  double number() const;
  /// The only character of a text.
  char32_t character() const;

  bool flag(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  /// The member "type".
  const std::string& type() const { return at("type").text(); }

 private:
  const io::Value* value_;
  std::string_view source_;
  std::string path_;
};

}  // namespace heed::pipeline

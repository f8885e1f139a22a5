// The config of a model that another program has written: config.json of a Hugging Face folder, or
// the metadata of a GGUF file under the same keys. Importers ask for keys by name; an error names
// the file, the key and what was expected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/value.h"

namespace heed {

class ForeignConfig {
 public:
  /// The keys that mean the same, in the order in which they are tried.
  class Keys {
   public:
    Keys(const char* key) : all_{key} {}                              // NOLINT: one key is usual
    Keys(std::string_view key) : all_{key} {}                         // NOLINT
    Keys(std::initializer_list<std::string_view> all) : all_(all) {}  // NOLINT
    const std::vector<std::string_view>& all() const { return all_; }

   private:
    std::vector<std::string_view> all_;
  };

  /// `value` must be a table; `source` names the file in messages.
  ForeignConfig(io::Value value, std::string source);
  /// Reads a JSON file.
  static ForeignConfig read(const std::filesystem::path& path);

  /// Whether one of the keys has a value other than null.
  bool has(const Keys& keys) const { return find(keys) != nullptr; }

  // The value of the first key that has one. Without a default, a missing value is an error; a
  // value of another type always is.
  std::int64_t integer(const Keys& keys) const;
  std::int64_t integer(const Keys& keys, std::int64_t otherwise) const;
  double number(const Keys& keys) const;
  double number(const Keys& keys, double otherwise) const;
  bool boolean(const Keys& keys, bool otherwise) const;
  std::string text(const Keys& keys) const;
  std::string text(const Keys& keys, std::string_view otherwise) const;
  /// An integer, or a list of them; none if there is no value.
  std::vector<std::int64_t> integers(const Keys& keys) const;
  /// A text, or a list of them; none if there is no value.
  std::vector<std::string> texts(const Keys& keys) const;
  /// A table inside; an empty one if there is no value.
  ForeignConfig section(const Keys& keys) const;

  /// Throws unless the text of a key is the expected one, or absent: for options that heed has no
  /// other value of.
  void expect(std::string_view key, std::string_view expected) const;
  void expect(std::string_view key, bool expected) const;
  /// A literal would otherwise be taken for a bool.
  void expect(std::string_view key, const char* expected) const {
    expect(key, std::string_view(expected));
  }

  const std::string& source() const { return source_; }
  /// The folder of the file, in which there may be others; empty if it was not read from a file.
  const std::filesystem::path& folder() const { return folder_; }
  const io::Value::Table& table() const { return *value_.table(); }

 private:
  const io::Value* find(const Keys& keys) const;
  const io::Value& require(const Keys& keys) const;
  [[noreturn]] void wrong(const Keys& keys, const io::Value& value,
                          std::string_view expected) const;

  io::Value value_;
  std::string source_;
  std::filesystem::path folder_;
};

}  // namespace heed

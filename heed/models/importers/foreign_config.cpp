#include "heed/models/importers/foreign_config.h"

#include <fmt/format.h>

#include <utility>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/json.h"

namespace heed {
namespace {

std::string names_of(const ForeignConfig::Keys& keys) {
  std::vector<std::string> quoted;
  for (const std::string_view key : keys.all()) quoted.push_back(io::in_quotes(key));
  return fmt::format("{}", fmt::join(quoted, " or "));
}

}  // namespace

ForeignConfig::ForeignConfig(io::Value value, std::string source)
    : value_(std::move(value)), source_(std::move(source)) {
  HEED_CHECK(value_.table() != nullptr, "[import] {}: it is {}, not a table of settings", source_,
             io::describe(value_));
}

ForeignConfig ForeignConfig::read(const std::filesystem::path& path) {
  // A config has a few hundred values; classifiers list each label twice.
  constexpr std::size_t kMostValues = 1'000'000, kMostBytes = std::size_t{16} << 20;
  ForeignConfig config(io::parse_json(io::read_file(path, kMostBytes), path.string(), kMostValues),
                       path.string());
  config.folder_ = path.parent_path();
  return config;
}

const io::Value* ForeignConfig::find(const Keys& keys) const {
  for (const std::string_view key : keys.all()) {
    const io::Value* const value = io::find(table(), key);
    if (value != nullptr && !value->is_null()) return value;
  }
  return nullptr;
}

const io::Value& ForeignConfig::require(const Keys& keys) const {
  const io::Value* const value = find(keys);
  HEED_CHECK(value != nullptr, "[import] {}: it has no {}, which this kind of model needs", source_,
             names_of(keys));
  return *value;
}

void ForeignConfig::wrong(const Keys& keys, const io::Value& value,
                          std::string_view expected) const {
  fail("[import] {}: {} is {}: expected {}", source_, names_of(keys), io::describe(value),
       expected);
}

std::int64_t ForeignConfig::integer(const Keys& keys) const {
  const io::Value& value = require(keys);
  if (value.integer() == nullptr) wrong(keys, value, "an integer");
  return *value.integer();
}

std::int64_t ForeignConfig::integer(const Keys& keys, std::int64_t otherwise) const {
  return has(keys) ? integer(keys) : otherwise;
}

double ForeignConfig::number(const Keys& keys) const {
  const io::Value& value = require(keys);
  if (value.integer() != nullptr) return static_cast<double>(*value.integer());
  if (value.floating() == nullptr) wrong(keys, value, "a number");
  return *value.floating();
}

double ForeignConfig::number(const Keys& keys, double otherwise) const {
  return has(keys) ? number(keys) : otherwise;
}

bool ForeignConfig::boolean(const Keys& keys, bool otherwise) const {
  const io::Value* const value = find(keys);
  if (value == nullptr) return otherwise;
  if (value->boolean() == nullptr) wrong(keys, *value, "true or false");
  return *value->boolean();
}

std::string ForeignConfig::text(const Keys& keys) const {
  const io::Value& value = require(keys);
  if (value.string() == nullptr) wrong(keys, value, "a text");
  return *value.string();
}

std::string ForeignConfig::text(const Keys& keys, std::string_view otherwise) const {
  return has(keys) ? text(keys) : std::string(otherwise);
}

std::vector<std::int64_t> ForeignConfig::integers(const Keys& keys) const {
  const io::Value* const value = find(keys);
  if (value == nullptr) return {};
  if (value->integer() != nullptr) return {*value->integer()};
  if (value->list() == nullptr) wrong(keys, *value, "an integer or a list of integers");
  std::vector<std::int64_t> all;
  for (const io::Value& one : *value->list()) {
    if (one.integer() == nullptr) wrong(keys, one, "an integer in the list");
    all.push_back(*one.integer());
  }
  return all;
}

std::vector<std::string> ForeignConfig::texts(const Keys& keys) const {
  const io::Value* const value = find(keys);
  if (value == nullptr) return {};
  if (value->string() != nullptr) return {*value->string()};
  if (value->list() == nullptr) wrong(keys, *value, "a text or a list of texts");
  std::vector<std::string> all;
  for (const io::Value& one : *value->list()) {
    if (one.string() == nullptr) wrong(keys, one, "a text in the list");
    all.push_back(*one.string());
  }
  return all;
}

ForeignConfig ForeignConfig::section(const Keys& keys) const {
  const io::Value* const value = find(keys);
  if (value == nullptr) return {io::Value{.data = io::Value::Table{}}, source_};
  if (value->table() == nullptr) wrong(keys, *value, "a table");
  return {*value, source_};
}

void ForeignConfig::expect(std::string_view key, std::string_view expected) const {
  const std::string found = text(key, expected);
  HEED_CHECK(found == expected, "[import] {}: {} is {}: heed computes only {}", source_,
             io::in_quotes(key), io::in_quotes(found), io::in_quotes(expected));
}

void ForeignConfig::expect(std::string_view key, bool expected) const {
  HEED_CHECK(boolean(key, expected) == expected,
             "[import] {}: {} is {}: heed computes only models where it is {}", source_,
             io::in_quotes(key), !expected, expected);
}

}  // namespace heed

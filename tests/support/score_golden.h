// What sacreBLEU said, from tests/golden/score/, described in tools/golden/score.py.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/json.h"
#include "tests/support/paths.h"

namespace heed::test {

/// One value of a golden file; asking for what it is not throws.
class GoldenValue {
 public:
  explicit GoldenValue(const io::Value& value) : value_(value) {}

  GoldenValue operator[](const std::string& key) const {
    const io::Value* const member = io::find(*value_.table(), key);
    HEED_CHECK(member != nullptr, "[golden] no member '{}'", key);
    return GoldenValue(*member);
  }
  bool has(const std::string& key) const { return io::find(*value_.table(), key) != nullptr; }
  bool is_null() const { return value_.is_null(); }
  bool flag() const { return *value_.boolean(); }
  const std::string& text() const { return *value_.string(); }
  std::int64_t integer() const { return *value_.integer(); }
  double number() const {
    return value_.integer() != nullptr ? static_cast<double>(integer()) : *value_.floating();
  }
  std::vector<GoldenValue> list() const {
    std::vector<GoldenValue> all;
    for (const io::Value& value : *value_.list()) all.emplace_back(value);
    return all;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const GoldenValue& value : list()) all.push_back(value.text());
    return all;
  }

 private:
  const io::Value& value_;
};

inline std::filesystem::path score_golden_path(const std::string& name) {
  return golden_path("score") / name;
}

inline std::string score_golden_text(const std::string& name) {
  return io::read_file(score_golden_path(name), std::size_t{1} << 24);
}

/// The file as a tree, read once.
inline GoldenValue score_golden(const std::string& name) {
  static std::vector<std::pair<std::string, std::unique_ptr<io::Value>>> files;
  for (const auto& [known, value] : files) {
    if (known == name) return GoldenValue(*value);
  }
  files.emplace_back(name,
                     std::make_unique<io::Value>(io::parse_json(score_golden_text(name), name)));
  return GoldenValue(*files.back().second);
}

/// The four columns of the hostile lines: two translations, two references.
inline std::vector<std::vector<std::string>> hostile_columns() {
  std::vector<std::vector<std::string>> columns(4);
  for (const GoldenValue& line : score_golden("metrics.json")["lines"].list()) {
    const std::vector<std::string> texts = line.texts();
    for (std::size_t i = 0; i < 4; ++i) columns[i].push_back(texts[i]);
  }
  return columns;
}

}  // namespace heed::test

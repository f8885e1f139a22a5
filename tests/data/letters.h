// A tokenizer for tests: each byte is a token, its number four above the byte; tokens 0 to 3 are
// the special ones. 'z' is unknown to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/text/tokenizer.h"

namespace heed::test {

class Letters : public Tokenizer {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    for (const char c : text) {
      ids.push_back(c == 'z' ? special().unknown : static_cast<unsigned char>(c) + 4);
    }
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      if (id >= 4) text += static_cast<char>(id - 4);
    }
    return text;
  }
  std::int64_t size() const override { return 260; }
  SpecialTokens special() const override { return {}; }
  std::string piece(std::int32_t id) const override { return std::to_string(id); }
  bool begins_word(std::int32_t id) const override { return id == ' ' + 4; }
  std::vector<File> files() const override { fail("[letters] are not kept in files"); }
};

}  // namespace heed::test

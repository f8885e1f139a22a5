// Remembers the tokens of words, because most words of a text have been seen before. Threads may
// share a cache: one that finds a part of it locked goes without.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/subword_model.h"
#include "heed/text/vocabulary.h"

namespace heed::pipeline {

/// A bounded map from words to tokens.
class WordCache {
 public:
  /// Appends the tokens of a word if they are known.
  bool find(std::string_view word, std::vector<Subword>& out) const;
  /// Remembers the tokens of a word, unless the word is long.
  void add(std::string_view word, const Subword* begin, const Subword* end) const;

 private:
  static constexpr std::size_t kParts = 16;
  static constexpr std::size_t kWordsPerPart = 4096;  // a full part is emptied
  static constexpr std::size_t kLongest = 256;

  struct Part {
    std::mutex mutex;
    StringMap<std::vector<Subword>> words;
  };
  Part& part_of(std::string_view word) const {
    return (*parts_)[std::hash<std::string_view>()(word) % kParts];
  }

  std::unique_ptr<std::array<Part, kParts>> parts_ = std::make_unique<std::array<Part, kParts>>();
};

}  // namespace heed::pipeline

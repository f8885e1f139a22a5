// Sentences of token ids in one flat array: 4 bytes per token and 8 per sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed {

/// A list of sentences.
class TokenRows {
 public:
  /// Appends a sentence; it may be empty.
  void add(std::span<const std::int32_t> row) {
    tokens_.insert(tokens_.end(), row.begin(), row.end());
    starts_.push_back(static_cast<std::int64_t>(tokens_.size()));
  }
  /// Appends a token to the last sentence.
  void extend_last(std::int32_t token) {
    tokens_.push_back(token);
    ++starts_.back();
  }
  /// The number of sentences.
  std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  /// The tokens of a sentence.
  std::span<const std::int32_t> operator[](std::int64_t row) const {
    return std::span(tokens_).subspan(static_cast<std::size_t>(start(row)),
                                      static_cast<std::size_t>(length(row)));
  }
  std::int64_t length(std::int64_t row) const { return start(row + 1) - start(row); }
  /// The number of tokens of all sentences.
  std::int64_t tokens() const { return starts_.back(); }

 private:
  std::int64_t start(std::int64_t row) const { return starts_[static_cast<std::size_t>(row)]; }

  std::vector<std::int32_t> tokens_;
  std::vector<std::int64_t> starts_ = {0};  // start of every sentence, and the end of the last
};

}  // namespace heed

// Text for language models: one long row of tokens, and blocks of it. A model is given a block and
// must say, at each place, the token that follows.
//
//   const auto [training, validation] = read_tokens("input.txt", *tokenizer).split(0.1);
//   const TokenBlocks batch = training.random_blocks({.rows = 12, .length = 64}, seed, update);
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "heed/data/line_check.h"
#include "heed/tensor/tensor.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// Blocks of text, and what follows each token.
struct TokenBlocks {
  Tensor tokens;           ///< i64 [B, T]
  Tensor expected;         ///< i64 [B, T]; -100, cross_entropy's ignore_index, where nothing does.
  std::int64_t count = 0;  ///< Places of `expected` that count.
};

/// The size of a batch of blocks.
struct BlockSize {
  std::int64_t rows = 1;
  std::int64_t length = 1;
};

class TokenStream {
 public:
  explicit TokenStream(std::vector<std::int32_t> tokens) : tokens_(std::move(tokens)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  std::span<const std::int32_t> tokens() const { return tokens_; }
  /// The first part for training, the last `share` (from 0 to 1) for validation.
  std::pair<TokenStream, TokenStream> split(double share) const;

  /// Blocks from anywhere, as nanoGPT draws them: a function of seed and update, so that the number
  /// of the update is the position in the stream.
  TokenBlocks random_blocks(const BlockSize& size, std::uint64_t seed, std::int64_t update) const;
  /// The number of blocks that cut the stream without overlap, the last one shorter perhaps.
  std::int64_t block_count(std::int64_t length) const;
  /// Those from `first` on, at most size.rows. Over all of them every token but the first is
  /// expected exactly once.
  TokenBlocks blocks(const BlockSize& size, std::int64_t first) const;

 private:
  std::vector<std::int32_t> tokens_;
};

struct TokenStreamOptions {
  bool end_lines = false;  ///< Lines end with the end token; else with the tokens of "\n".
  OnBad on_bad = OnBad::stop;
};

/// Reads a text file, plain or gzip, line by line; empty lines belong to it.
TokenStream read_tokens(const std::filesystem::path& path, const Tokenizer& tokenizer,
                        const TokenStreamOptions& options = {});

}  // namespace heed

// Text for language models: one long sequence of tokens, in memory or on disk (packed_text.h), and
// blocks of it. A model reads a block and must predict the next token at each position.
//
//   const auto [training, validation] = read_tokens("input.txt", *tokenizer).split(0.1);
//   const TokenBlocks batch = training.random_blocks({.rows = 12, .length = 64}, seed, update);
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heed/base/random.h"
#include "heed/data/line_check.h"
#include "heed/data/packed_text.h"
#include "heed/tensor/tensor.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// Blocks of text, and the token that follows each token.
struct TokenBlocks {
  Tensor tokens;    ///< i64 [B, T]
  Tensor expected;  ///< i64 [B, T]; -100 (the ignore_index of cross_entropy) if none follows.
  std::int64_t count = 0;  ///< Positions of `expected` that count.
};

/// The size of a batch of blocks.
struct BlockSize {
  std::int64_t rows = 1;
  std::int64_t length = 1;
  bool aligned = false;  ///< Random blocks begin at multiples of the length.
};

/// A sequence of tokens.
class TokenStream {
 public:
  explicit TokenStream(std::vector<std::int32_t> tokens)
      : tokens_(std::move(tokens)), end_(std::ssize(tokens_)) {}
  /// The tokens stay on disk.
  explicit TokenStream(std::shared_ptr<const PackedText> text)
      : text_(std::move(text)), end_(text_->size()) {}

  std::int64_t size() const { return end_ - begin_; }
  /// Copies the tokens from number `first` on.
  void read(std::int64_t first, std::span<std::int32_t> tokens) const;
  /// The first part for training, the last `share` (from 0 to 1) for validation.
  std::pair<TokenStream, TokenStream> split(double share) const;

  /// Blocks at random positions, as in nanoGPT, or at random multiples of the length. They depend
  /// only on seed and update, so the number of the update is the position in the stream. `first` is
  /// the number of the first row, for a part of a larger batch.
  TokenBlocks random_blocks(const BlockSize& size, std::uint64_t seed, std::int64_t update,
                            std::int64_t first = 0) const;
  /// The number of blocks if the stream is split without overlap; the last one may be shorter.
  std::int64_t block_count(std::int64_t length) const;
  /// At most size.rows of these blocks, from number `first` on. Over all blocks, every token but
  /// the first is expected exactly once.
  TokenBlocks blocks(const BlockSize& size, std::int64_t first) const;

 private:
  void put_block(TokenBlocks& blocks, std::int64_t row, std::int64_t begin) const;

  std::vector<std::int32_t> tokens_;
  std::shared_ptr<const PackedText> text_;  // instead of tokens_
  std::int64_t begin_ = 0, end_ = 0;        // the part of either
};

/// A random number in [0, places), the same for any number of places below 2^32 as
/// RandomStream::below.
std::int64_t random_place(const RandomStream& random, std::uint64_t index, std::int64_t places);

/// Options of read_tokens.
struct TokenStreamOptions {
  bool end_lines = false;  ///< Lines end with the end token if true, else with the tokens of "\n".
  OnBad on_bad = OnBad::stop;
};

/// Reads a text file, plain or gzip, line by line; empty lines are kept.
TokenStream read_tokens(const std::filesystem::path& path, const Tokenizer& tokenizer,
                        const TokenStreamOptions& options = {});

}  // namespace heed

#include "heed/data/token_stream.h"

#include <algorithm>
#include <limits>
#include <string>

#include "heed/base/error.h"
#include "heed/data/batch.h"
#include "heed/data/shuffle.h"
#include "heed/io/lines.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

void check_size(const BlockSize& size) {
  HEED_CHECK(size.rows > 0 && size.length > 0,
             "[tokens] blocks of {} rows and {} tokens: both must be at least 1", size.rows,
             size.length);
}

TokenBlocks empty_blocks(std::int64_t rows, std::int64_t length) {
  return {.tokens = empty({rows, length}, DType::i64),
          .expected = empty({rows, length}, DType::i64)};
}

}  // namespace

std::int64_t random_place(const RandomStream& random, std::uint64_t index, std::int64_t places) {
  if (places <= std::numeric_limits<std::uint32_t>::max()) {
    return random.below(index, static_cast<std::uint32_t>(places));
  }
  // 52 bits, the lower half from an index that no row of a batch has.
  const std::uint64_t low = random.bits(index + (std::uint64_t{1} << 40)) >> 12;
  const std::uint64_t bits = (std::uint64_t{random.bits(index)} << 20) | low;
  return static_cast<std::int64_t>(static_cast<double>(bits) * 0x1p-52 *
                                   static_cast<double>(places));
}

void TokenStream::read(std::int64_t first, std::span<std::int32_t> tokens) const {
  HEED_ASSERT(first >= 0 && first + std::ssize(tokens) <= size());
  if (text_) return text_->read(begin_ + first, tokens);
  std::copy_n(tokens_.begin() + begin_ + first, tokens.size(), tokens.begin());
}

// Fills one row with the tokens from `begin` on, and its expected row with the tokens that follow
// them. After the end of the text the row holds token 0, and nothing is expected.
void TokenStream::put_block(TokenBlocks& blocks, std::int64_t row, std::int64_t begin) const {
  const std::int64_t length = blocks.tokens.size(1);
  const std::int64_t here = std::min(length, size() - 1 - begin);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(here + 1));
  read(begin, tokens);
  std::int64_t* const given = blocks.tokens.mutable_data<std::int64_t>() + row * length;
  std::int64_t* const expected = blocks.expected.mutable_data<std::int64_t>() + row * length;
  std::fill(std::copy_n(tokens.begin(), here, given), given + length, 0);
  std::fill(std::copy_n(tokens.begin() + 1, here, expected), expected + length, kIgnored);
  blocks.count += here;
}

std::pair<TokenStream, TokenStream> TokenStream::split(double share) const {
  HEED_CHECK(share >= 0.0 && share <= 1.0, "[tokens] share is {}: it must be from 0 to 1", share);
  const auto cut = begin_ + static_cast<std::int64_t>(static_cast<double>(size()) * (1.0 - share));
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    if (!text_) {
      return TokenStream(std::vector<std::int32_t>(tokens_.begin() + begin, tokens_.begin() + end));
    }
    TokenStream one(text_);
    one.begin_ = begin;
    one.end_ = end;
    return one;
  };
  return {part(begin_, cut), part(cut, end_)};
}

TokenBlocks TokenStream::random_blocks(const BlockSize& size, std::uint64_t seed,
                                       std::int64_t update, std::int64_t first) const {
  check_size(size);
  const std::int64_t places = this->size() - size.length;
  HEED_CHECK(places > 0,
             "[tokens] blocks of {} tokens from a text of {}: the text must be longer than a block",
             size.length, this->size());
  TokenBlocks blocks = empty_blocks(size.rows, size.length);
  const RandomStream random = data_stream(seed, DataPurpose::blocks, update);
  const std::int64_t step = size.aligned ? size.length : 1;
  const std::int64_t starts = (places - 1) / step + 1;
  for (std::int64_t row = 0; row < size.rows; ++row) {
    const auto number = static_cast<std::uint64_t>(first + row);
    put_block(blocks, row, step * random_place(random, number, starts));
  }
  return blocks;
}

std::int64_t TokenStream::block_count(std::int64_t length) const {
  check_size({.rows = 1, .length = length});
  return size() < 2 ? 0 : (size() - 2) / length + 1;
}

TokenBlocks TokenStream::blocks(const BlockSize& size, std::int64_t first) const {
  check_size(size);
  const std::int64_t left = block_count(size.length) - first;
  HEED_CHECK(first >= 0 && left > 0, "[tokens] block {} of {}", first, block_count(size.length));
  const std::int64_t rows = std::min(size.rows, left);
  TokenBlocks blocks = empty_blocks(rows, size.length);
  for (std::int64_t row = 0; row < rows; ++row) {
    put_block(blocks, row, (first + row) * size.length);
  }
  return blocks;
}

TokenStream read_tokens(const std::filesystem::path& path, const Tokenizer& tokenizer,
                        const TokenStreamOptions& options) {
  io::LineReader reader(path);
  BadLines bad;
  std::vector<std::int32_t> all;
  for (std::string line; reader.next(line);) {
    const auto fault = find_fault(line, std::numeric_limits<std::size_t>::max());
    if (fault && fault->kind != BadLine::empty) {
      bad.add(*fault, reader.place(), options.on_bad);
      continue;
    }
    if (!options.end_lines) line += '\n';
    const std::vector<std::int32_t> tokens = tokenizer.encode(line);
    all.insert(all.end(), tokens.begin(), tokens.end());
    if (options.end_lines) all.push_back(tokenizer.special().end);
  }
  return TokenStream(std::move(all));
}

}  // namespace heed

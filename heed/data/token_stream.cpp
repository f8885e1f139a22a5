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

// Fills one row with the tokens from `begin` on, and its expected row with the tokens that follow
// them. After the end of the text the row holds token 0, and nothing is expected.
void put_block(TokenBlocks& blocks, std::int64_t row, std::span<const std::int32_t> tokens,
               std::int64_t begin) {
  const std::int64_t length = blocks.tokens.size(1);
  const std::int64_t here = std::min(length, static_cast<std::int64_t>(tokens.size()) - 1 - begin);
  const std::int32_t* const first = tokens.data() + begin;
  std::int64_t* const given = blocks.tokens.mutable_data<std::int64_t>() + row * length;
  std::int64_t* const expected = blocks.expected.mutable_data<std::int64_t>() + row * length;
  std::fill(std::copy(first, first + here, given), given + length, 0);
  std::fill(std::copy(first + 1, first + 1 + here, expected), expected + length, kIgnored);
  blocks.count += here;
}

}  // namespace

std::pair<TokenStream, TokenStream> TokenStream::split(double share) const {
  HEED_CHECK(share >= 0.0 && share <= 1.0, "[tokens] share is {}: it must be from 0 to 1", share);
  const auto cut = static_cast<std::ptrdiff_t>(static_cast<double>(size()) * (1.0 - share));
  return {TokenStream({tokens_.begin(), tokens_.begin() + cut}),
          TokenStream({tokens_.begin() + cut, tokens_.end()})};
}

TokenBlocks TokenStream::random_blocks(const BlockSize& size, std::uint64_t seed,
                                       std::int64_t update, std::int64_t first) const {
  check_size(size);
  const std::int64_t places = this->size() - size.length;
  HEED_CHECK(places > 0,
             "[tokens] blocks of {} tokens from a text of {}: the text must be longer than a block",
             size.length, this->size());
  HEED_CHECK(places <= std::numeric_limits<std::uint32_t>::max(),
             "[tokens] a text of {} tokens: fewer than 2^32 are supported; split it", this->size());
  TokenBlocks blocks = empty_blocks(size.rows, size.length);
  const RandomStream random = data_stream(seed, DataPurpose::blocks, update);
  const std::int64_t step = size.aligned ? size.length : 1;
  const auto starts = static_cast<std::uint32_t>((places - 1) / step + 1);
  for (std::int64_t row = 0; row < size.rows; ++row) {
    const auto number = static_cast<std::uint64_t>(first + row);
    put_block(blocks, row, tokens_, step * random.below(number, starts));
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
    put_block(blocks, row, tokens_, (first + row) * size.length);
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

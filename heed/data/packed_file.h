// One file of a packed corpus: tokenized pairs of sentences in blocks, read where they are mapped.
// All numbers are little-endian.
//
//   header    "HEEDPAIR", u32 version (1), u32 bytes of a token (2 or 4), u64 blocks, u64 pairs,
//             u64 byte of the index, u64 checksum of the index                        (48 bytes)
//   blocks    for each pair: u16 tokens of the source, u16 tokens of the target;
//             then for each pair the tokens of its source and of its target; zeros up to a
//             multiple of 8 bytes
//   index     for each block: u64 its first byte, u32 pairs, u32 tokens, u64 checksum of the
//             lengths, u64 checksum of the tokens                                      (32 bytes)
//
// The header and the index are checked when the file is opened, the lengths and the tokens of a
// block when they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/batching.h"

namespace heed {

/// The layout of packed files.
struct PackedLayout {
  static constexpr std::string_view kMagic = "HEEDPAIR";
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kHeaderBytes = 48;
  static constexpr std::size_t kEntryBytes = 32;
  static constexpr std::size_t kAlignment = 8;
  static constexpr std::int64_t kBlockPairs = 1024;    ///< Pairs of a block, at most.
  static constexpr std::int64_t kMaxLength = 65535;    ///< Tokens of a sentence, at most.
  static constexpr std::size_t kLengthBytes = 4;       ///< Of a pair.
  static constexpr std::int64_t kShortTokens = 65536;  ///< Vocabularies up to this have 2 bytes.

  static std::size_t aligned(std::size_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }
};

/// The numbers of tokens of both vocabularies.
struct PackedVocabularies {
  std::int64_t source = 0;
  std::int64_t target = 0;

  /// The bytes of a token in a packed file.
  std::uint32_t token_bytes() const {
    return std::max(source, target) <= PackedLayout::kShortTokens ? 2 : 4;
  }
};

/// A view of a packed file.
class PackedFile {
 public:
  /// Checks header and index. `name` names the file in messages; the bytes must outlive the view.
  PackedFile(std::span<const std::byte> bytes, std::string name, const PackedVocabularies& sizes);

  std::int64_t pairs() const { return pairs_; }
  std::int64_t blocks() const { return blocks_; }
  /// The checksum of the index, and thereby of everything.
  std::uint64_t checksum() const { return checksum_; }
  /// The number of pairs of a block.
  std::int64_t pairs_of(std::int64_t block) const { return entry(block).pairs; }

  /// Appends the lengths of the pairs of a block, which are checked.
  void read_lengths(std::int64_t block, std::vector<PairLength>& lengths) const;
  /// Checks the tokens of a block: their checksum, and that the vocabularies have them.
  void check_tokens(std::int64_t block) const;
  /// Appends tokens of a block that was checked: `count` of them, from number `first` on.
  void read_tokens(std::int64_t block, std::int64_t first, std::int64_t count,
                   std::vector<std::int32_t>& tokens) const;

 private:
  struct Entry {
    std::uint64_t offset;
    std::uint32_t pairs;
    std::uint32_t tokens;
    std::uint64_t lengths_checksum;
    std::uint64_t tokens_checksum;
  };

  Entry entry(std::int64_t block) const;
  std::span<const std::byte> bytes_of(std::int64_t block) const;
  std::span<const std::byte> lengths_of(std::int64_t block) const;
  std::span<const std::byte> tokens_of(std::int64_t block) const;
  void check_header();
  void check_index() const;

  std::span<const std::byte> bytes_;
  std::string name_;
  PackedVocabularies sizes_;
  std::size_t token_bytes_ = 2;
  std::int64_t blocks_ = 0;
  std::int64_t pairs_ = 0;
  std::uint64_t index_ = 0;
  std::uint64_t checksum_ = 0;
};

}  // namespace heed

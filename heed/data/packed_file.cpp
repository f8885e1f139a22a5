#include "heed/data/packed_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/byte_reader.h"
#include "heed/io/fingerprint.h"

namespace heed {
namespace {

constexpr std::string_view kFormat = "packed";

template <typename T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Lengths {
  std::int64_t source, target;
};

Lengths length_at(std::span<const std::byte> lengths, std::size_t pair) {
  const std::size_t at = pair * PackedLayout::kLengthBytes;
  return {number_at<std::uint16_t>(lengths, at), number_at<std::uint16_t>(lengths, at + 2)};
}

}  // namespace

PackedFile::PackedFile(std::span<const std::byte> bytes, std::string name,
                       const PackedVocabularies& sizes)
    : bytes_(bytes), name_(std::move(name)), sizes_(sizes) {
  check_header();
  check_index();
}

void PackedFile::check_header() {
  using L = PackedLayout;
  io::ByteReader reader(bytes_, kFormat, name_);
  if (reader.text(L::kMagic.size(), "the header") != L::kMagic) {
    reader.refuse_at(0, "this is not a file of a packed corpus");
  }
  const auto version = reader.number<std::uint32_t>("the version");
  if (version != L::kVersion) {
    reader.refuse("version {}: this heed reads version {}; pack the corpus again", version,
                  L::kVersion);
  }
  token_bytes_ = reader.number<std::uint32_t>("the size of a token");
  if (token_bytes_ != sizes_.token_bytes()) {
    reader.refuse(
        "tokens of {} bytes, and the vocabularies need {}: the file belongs to another "
        "corpus",
        token_bytes_, sizes_.token_bytes());
  }
  const auto blocks = reader.number<std::uint64_t>("the number of blocks");
  const auto pairs = reader.number<std::uint64_t>("the number of pairs");
  index_ = reader.number<std::uint64_t>("the position of the index");
  checksum_ = reader.number<std::uint64_t>("the checksum of the index");
  if (blocks > bytes_.size() / L::kEntryBytes || pairs > bytes_.size() ||
      index_ != bytes_.size() - blocks * L::kEntryBytes) {
    reader.refuse_at(L::kHeaderBytes / 3,
                     "{} blocks, {} pairs and an index at byte {} in a file of {} bytes: it is cut "
                     "off or damaged",
                     blocks, pairs, index_, bytes_.size());
  }
  blocks_ = static_cast<std::int64_t>(blocks);
  pairs_ = static_cast<std::int64_t>(pairs);
}

void PackedFile::check_index() const {
  using L = PackedLayout;
  HEED_CHECK(io::fingerprint(bytes_.subspan(static_cast<std::size_t>(index_))) == checksum_,
             "[packed] {}: the checksum of the index is wrong: the file is damaged; copy it again, "
             "or pack the corpus again",
             name_);
  std::uint64_t offset = L::kHeaderBytes;
  std::int64_t pairs = 0;
  for (std::int64_t block = 0; block < blocks_; ++block) {
    const Entry at = entry(block);
    const bool is_good = at.offset == offset && at.pairs >= 1 && at.pairs <= L::kBlockPairs;
    HEED_CHECK(is_good, "[packed] {}: block {} of {} pairs begins at byte {} instead of {}", name_,
               block, at.pairs, at.offset, offset);
    offset += L::aligned(at.pairs * L::kLengthBytes + at.tokens * token_bytes_);
    HEED_CHECK(offset <= index_, "[packed] {}: block {} ends after byte {}, where the index begins",
               name_, block, index_);
    pairs += at.pairs;
  }
  HEED_CHECK(offset == index_ && pairs == pairs_,
             "[packed] {}: the blocks have {} pairs and end at byte {}; the header says {} and {}",
             name_, pairs, offset, pairs_, index_);
}

PackedFile::Entry PackedFile::entry(std::int64_t block) const {
  HEED_ASSERT(block >= 0 && block < blocks_);
  const std::size_t at = static_cast<std::size_t>(index_) +
                         static_cast<std::size_t>(block) * PackedLayout::kEntryBytes;
  return number_at<Entry>(bytes_, at);
}

std::span<const std::byte> PackedFile::bytes_of(std::int64_t block) const {
  const Entry at = entry(block);
  return bytes_.subspan(
      static_cast<std::size_t>(at.offset),
      PackedLayout::aligned(at.pairs * PackedLayout::kLengthBytes + at.tokens * token_bytes_));
}

std::span<const std::byte> PackedFile::lengths_of(std::int64_t block) const {
  return bytes_of(block).first(entry(block).pairs * PackedLayout::kLengthBytes);
}

std::span<const std::byte> PackedFile::tokens_of(std::int64_t block) const {
  const Entry at = entry(block);
  return bytes_of(block).subspan(at.pairs * PackedLayout::kLengthBytes, at.tokens * token_bytes_);
}

void PackedFile::read_lengths(std::int64_t block, std::vector<PairLength>& lengths) const {
  const Entry at = entry(block);
  const std::span<const std::byte> stored = lengths_of(block);
  std::int64_t tokens = 0;
  bool is_good = io::fingerprint(stored) == at.lengths_checksum;
  for (std::size_t pair = 0; pair < at.pairs; ++pair) {
    const auto [source, target] = length_at(stored, pair);
    lengths.push_back({static_cast<std::int32_t>(source), static_cast<std::int32_t>(target)});
    tokens += source + target;
    is_good = is_good && source > 0 && target > 0;
  }
  HEED_CHECK(is_good && tokens == at.tokens,
             "[packed] {}: the lengths of block {} (byte {}) are damaged: copy the file again, or "
             "pack the corpus again",
             name_, block, at.offset);
}

void PackedFile::check_tokens(std::int64_t block) const {
  const Entry at = entry(block);
  const std::span<const std::byte> stored = tokens_of(block);
  HEED_CHECK(io::fingerprint(stored) == at.tokens_checksum,
             "[packed] {}: the tokens of block {} (byte {}) are damaged: copy the file again, or "
             "pack the corpus again",
             name_, block, at.offset);
  std::vector<std::int32_t> tokens;
  read_tokens(block, 0, at.tokens, tokens);
  const auto check = [&](std::span<const std::int32_t> sentence, std::int64_t vocabulary) {
    for (const std::int32_t token : sentence) {
      HEED_CHECK(token >= 0 && token < vocabulary,
                 "[packed] {}: block {} has token {}, and its vocabulary {} tokens: the file "
                 "belongs to another corpus",
                 name_, block, token, vocabulary);
    }
  };
  const std::span<const std::byte> lengths = lengths_of(block);
  std::span<const std::int32_t> left = tokens;
  for (std::size_t pair = 0; pair < at.pairs; ++pair) {
    const auto [source, target] = length_at(lengths, pair);
    HEED_CHECK(std::cmp_less_equal(source + target, left.size()),
               "[packed] {}: the lengths of block {} do not fit its tokens", name_, block);
    check(left.first(static_cast<std::size_t>(source)), sizes_.source);
    left = left.subspan(static_cast<std::size_t>(source));
    check(left.first(static_cast<std::size_t>(target)), sizes_.target);
    left = left.subspan(static_cast<std::size_t>(target));
  }
}

void PackedFile::read_tokens(std::int64_t block, std::int64_t first, std::int64_t count,
                             std::vector<std::int32_t>& tokens) const {
  HEED_ASSERT(first >= 0 && count >= 0 && first + count <= entry(block).tokens);
  const std::span<const std::byte> stored = tokens_of(block);
  const auto append = [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = first; i < first + count; ++i) {
      tokens.push_back(
          static_cast<std::int32_t>(number_at<T>(stored, static_cast<std::size_t>(i) * sizeof(T))));
    }
  };
  token_bytes_ == 2 ? append(std::uint16_t{}) : append(std::int32_t{});
}

}  // namespace heed

// Fuzzes the reader of packed corpora: any bytes are either refused with a heed::Error or read, and
// what was read is inside its limits. Checksums refuse nearly all mutations, so each input is also
// tried with its checksums made right.
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/data/packed_file.h"
#include "heed/io/fingerprint.h"

namespace {

using namespace heed;
using fuzz::require;
using Bytes = std::vector<std::byte>;

constexpr PackedVocabularies kSizes{.source = 50, .target = 40};

void check(const Bytes& bytes) {
  try {
    const PackedFile file(bytes, "input", kSizes);
    std::int64_t pairs = 0;
    for (std::int64_t block = 0; block < file.blocks(); ++block) {
      std::vector<PairLength> lengths;
      file.read_lengths(block, lengths);
      file.check_tokens(block);
      require(static_cast<std::int64_t>(lengths.size()) == file.pairs_of(block));
      std::int64_t first = 0;
      for (const PairLength& length : lengths) {
        std::vector<std::int32_t> source, target;
        file.read_tokens(block, first, length.source, source);
        file.read_tokens(block, first + length.source, length.target, target);
        for (const std::int32_t token : source) require(token >= 0 && token < kSizes.source);
        for (const std::int32_t token : target) require(token >= 0 && token < kSizes.target);
        first += length.source + length.target;
      }
      pairs += file.pairs_of(block);
    }
    require(pairs == file.pairs());
  } catch (const Error&) {
  }
}

template <typename T>
T number_at(const Bytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void put_checksum(Bytes& bytes, std::size_t at, std::size_t begin, std::size_t size) {
  const std::uint64_t sum = io::fingerprint(std::span(bytes).subspan(begin, size));
  std::memcpy(bytes.data() + at, &sum, sizeof sum);
}

// Makes the checksums right of all parts that are inside the input.
void mend(Bytes& bytes) {
  if (bytes.size() < PackedLayout::kHeaderBytes) return;
  const auto index = number_at<std::uint64_t>(bytes, 32);
  if (index > bytes.size()) return;
  for (std::size_t at = index; at + PackedLayout::kEntryBytes <= bytes.size();
       at += PackedLayout::kEntryBytes) {
    const auto offset = number_at<std::uint64_t>(bytes, at);
    const std::size_t lengths =
        std::size_t{number_at<std::uint32_t>(bytes, at + 8)} * PackedLayout::kLengthBytes;
    const std::size_t tokens = std::size_t{number_at<std::uint32_t>(bytes, at + 12)} * 2;
    if (offset > bytes.size() || lengths + tokens > bytes.size() - offset) continue;
    put_checksum(bytes, at + 16, offset, lengths);
    put_checksum(bytes, at + 24, offset + lengths, tokens);
  }
  put_checksum(bytes, 40, index, bytes.size() - index);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(reinterpret_cast<const std::byte*>(data),
              reinterpret_cast<const std::byte*>(data) + size);
  check(bytes);
  mend(bytes);
  check(bytes);
  return 0;
}

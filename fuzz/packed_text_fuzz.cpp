// Fuzzes the reader of packed texts: any bytes are either refused with a heed::Error or read, and
// what was read is inside the vocabulary. Checksums refuse nearly all mutations, so each input is
// also tried with its checksums made right.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/data/packed_text.h"
#include "heed/io/fingerprint.h"

namespace {

using namespace heed;
using fuzz::require;
using Bytes = std::vector<std::byte>;

constexpr std::int64_t kVocabulary = 50;

void check(const Bytes& bytes) {
  try {
    const PackedTextFile file(bytes, "input", kVocabulary);
    for (std::int64_t block = 0; block < file.blocks(); ++block) {
      file.check_block(block);
      const std::int64_t first = block * file.block_tokens();
      const std::int64_t count = std::min(file.block_tokens(), file.tokens() - first);
      std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
      file.read(first, tokens);
      for (const std::int32_t token : tokens) require(token >= 0 && token < kVocabulary);
    }
  } catch (const Error&) {
  }
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void put_checksum(Bytes& bytes, std::size_t at, std::size_t begin, std::size_t size) {
  const std::uint64_t sum = io::fingerprint(std::span(bytes).subspan(begin, size));
  std::memcpy(bytes.data() + at, &sum, sizeof sum);
}

// Makes the checksums right of all parts that are inside the input.
void mend(Bytes& bytes) {
  using L = PackedTextLayout;
  if (bytes.size() < L::kHeaderBytes) return;
  const std::uint64_t block = 2 * number_at(bytes, 24), index = number_at(bytes, 32);
  if (index < L::kHeaderBytes || index > bytes.size()) return;
  const std::uint64_t end = L::kHeaderBytes + 2 * number_at(bytes, 16);
  if (end > index || block == 0 || block > bytes.size()) return;
  std::size_t begin = L::kHeaderBytes;
  for (std::size_t at = index; at + L::kEntryBytes <= bytes.size() && begin < end;
       at += L::kEntryBytes, begin += block) {
    put_checksum(bytes, at, begin, std::min<std::size_t>(block, end - begin));
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

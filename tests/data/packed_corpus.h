// Small packed corpora for tests: the source of pair i is the number 1000 + i and letters, so that
// a pair is recognised wherever it comes out.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "heed/base/random.h"
#include "heed/data/packed_writer.h"
#include "heed/text/words.h"

namespace heed::test {

/// The words of all sentences of written_pairs(): numbers and letters.
inline std::shared_ptr<const Tokenizer> number_words(std::int64_t pairs) {
  TokenCounter counter;
  for (std::int64_t i = 0; i < pairs; ++i) counter.add(std::to_string(1000 + i));
  for (const char* const letter : {"a", "b", "c"}) counter.add(letter);
  return std::make_shared<Words>(counter.vocabulary());
}

/// Writes PREFIX.source and PREFIX.target. Lengths of sentences are 1 to 12.
inline void write_text(const std::filesystem::path& prefix, std::int64_t pairs) {
  std::ofstream source(prefix.string() + ".source"), target(prefix.string() + ".target");
  for (std::int64_t i = 0; i < pairs; ++i) {
    const RandomStream random{4, static_cast<std::uint64_t>(i)};
    source << 1000 + i;
    target << "b";
    for (std::uint32_t n = random.below(0, 12); n > 0; --n) source << " a";
    for (std::uint32_t n = random.below(1, 12); n > 0; --n) target << " c";
    source << "\n";
    target << "\n";
  }
}

/// Packs such a text into PREFIX.packed, in small blocks and files.
inline std::filesystem::path packed_corpus(const std::filesystem::path& prefix, std::int64_t pairs,
                                           std::int64_t block_pairs = 8,
                                           std::int64_t file_bytes = 2000) {
  write_text(prefix, pairs);
  const auto words = number_words(pairs);
  ParallelText text(prefix.string() + ".source", prefix.string() + ".target");
  const std::filesystem::path folder = prefix.string() + ".packed";
  pack_pairs(text, {words, words}, folder, {.file_bytes = file_bytes, .block_pairs = block_pairs});
  return folder;
}

}  // namespace heed::test

// A corpus of heed's own: English sentences and their Chinese translations, drawn from a small
// grammar. Word order, measure words, dates and numbers differ between the two, so the alignments
// are not diagonal, and they are known. An English sentence has one translation; there are hundreds
// of millions of sentences, so that a translator must learn the rules and not the sentences.
//
//   grammar_sentence(1, 0).english  // "Tom bought three books in the park yesterday."
//   grammar_sentence(1, 0).chinese  // "汤姆昨天在公园里买了三本书。"
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace heed {

/// A sentence in both languages and which of its words means what.
struct GrammarPair {
  /// An English word (between spaces) and a Chinese character, both counted from 0.
  struct Link {
    std::int32_t word = 0;
    std::int32_t character = 0;
    bool sure = true;  ///< False: they belong together, but neither means the other.
  };

  std::string english;
  std::string chinese;
  std::vector<Link> links;
};

/// The links in the form that aligners use: "0-0 1p4" with "-" for sure and "p" for possible.
std::string pharaoh(const std::vector<GrammarPair::Link>& links);

/// One sentence: a function of seed and number. Different numbers may give the same sentence.
GrammarPair grammar_sentence(std::uint64_t seed, std::int64_t number);

struct GrammarOptions {
  std::int64_t sentences = 20000;
  std::int64_t held_out = 1000;
  std::uint64_t seed = 1;
};

/// Sentences all different from each other, held-out ones too.
struct GrammarCorpus {
  std::vector<GrammarPair> training;
  std::vector<GrammarPair> held_out;  ///< The same for any number of training sentences.
};

/// Makes a corpus.
GrammarCorpus grammar_corpus(const GrammarOptions& options);

/// Writes PREFIX.en, PREFIX.zh and PREFIX.align, a line per sentence.
void write_pairs(const std::filesystem::path& prefix, std::span<const GrammarPair> pairs);

}  // namespace heed

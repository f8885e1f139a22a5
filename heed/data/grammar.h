// A generated corpus: English sentences and their Chinese translations, drawn from a small grammar.
// Word order, measure words, dates and numbers differ between the two languages, so the alignments,
// which are known, are not diagonal. Each English sentence has one translation. There are hundreds
// of millions of sentences, so a translator must learn the rules and cannot memorise the sentences.
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

/// A sentence in both languages and its word alignment.
struct GrammarPair {
  /// Links an English word (separated by spaces) to a Chinese character, both counted from 0.
  struct Link {
    std::int32_t word = 0;
    std::int32_t character = 0;
    bool sure = true;  ///< False if they belong together but are not translations of each other.
  };

  std::string english;
  std::string chinese;
  std::vector<Link> links;
};

/// The links in Pharaoh format: "0-0 1p4", with "-" for sure and "p" for possible links.
std::string pharaoh(const std::vector<GrammarPair::Link>& links);

/// The form of sentences.
struct GrammarForm {
  /// Percent of names that are made up, such as "Kadimo", and the same in both languages: to be
  /// copied, not learned.
  int rare_names = 0;
  /// Whether spaces separate all words and marks of both languages, for vocabularies of words.
  /// Links are between words then.
  bool spaced = false;
};

/// Makes one sentence, which depends only on seed, number and form. Different numbers may give the
/// same sentence.
GrammarPair grammar_sentence(std::uint64_t seed, std::int64_t number, const GrammarForm& form = {});

/// Numbers of sentences, and the seed.
struct GrammarOptions {
  std::int64_t sentences = 20000;
  std::int64_t held_out = 1000;
  std::uint64_t seed = 1;
  GrammarForm form = {};
};

/// Training and held-out sentences; all are different.
struct GrammarCorpus {
  std::vector<GrammarPair> training;
  std::vector<GrammarPair> held_out;  ///< Independent of the number of training sentences.
};

/// Makes a corpus.
GrammarCorpus grammar_corpus(const GrammarOptions& options);

/// Writes PREFIX.en, PREFIX.zh and PREFIX.align, one line per sentence.
void write_pairs(const std::filesystem::path& prefix, std::span<const GrammarPair> pairs);

}  // namespace heed

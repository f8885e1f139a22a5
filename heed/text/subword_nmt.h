// subword-nmt's BPE: codes (bpe_codes.h) split words, which are separated by spaces; all parts of a
// word but the last are marked with a separator ("wor@@ ld"), and a word list gives their ids. Text
// that is already split needs no codes: words.h reads it.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/bpe_codes.h"
#include "heed/text/tokenizer.h"
#include "heed/text/vocabulary.h"
#include "heed/text/words.h"

namespace heed {

/// Options of subword-nmt's apply-bpe.
struct SubwordNmtOptions {
  std::string separator = "@@";
  /// Merges into tokens that the vocabulary lacks, or counts less often than this, are undone;
  /// unset: none are. Use 0 for a list without counts.
  std::optional<std::int64_t> threshold = {};

  void fields(io::Fields& field) {
    field("separator", separator, "mark at the end of parts that are not the last of their word");
    field("threshold", threshold, "undo merges into tokens counted less often", {.min = 0});
  }
  void validate() const;
};

/// A tokenizer that uses BPE codes and a word list.
class SubwordNmt : public VocabularyTokenizer {
 public:
  SubwordNmt(BpeCodes codes, Vocabulary vocabulary, SubwordNmtOptions options = {});

  /// The text split into tokens, with separators, as apply-bpe prints them.
  std::vector<std::string> cut(std::string_view text) const;

  std::string_view kind() const override { return "subword_nmt"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::vector<std::string> parts(std::string_view text) const override { return cut(text); }
  std::vector<File> files() const override;

  const BpeCodes& codes() const { return codes_; }
  const SubwordNmtOptions& options() const { return options_; }

 private:
  std::vector<std::string_view> parts_of(std::string_view word) const;

  BpeCodes codes_;
  SubwordNmtOptions options_;
};

/// Reads a file of codes, plain or gzip.
BpeCodes load_bpe_codes(const std::filesystem::path& path);

/// Makes a vocabulary of the parts of all words of text files, with separators.
Vocabulary count_subwords(std::span<const std::filesystem::path> paths, const BpeCodes& codes,
                          const VocabularyOptions& options = {}, std::string_view separator = "@@");

}  // namespace heed

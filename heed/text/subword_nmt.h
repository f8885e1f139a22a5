// subword-nmt's BPE: words that spaces part are cut by codes (bpe_codes.h), all parts but the last
// of a word are marked with a separator ("wor@@ ld"), and a word list numbers them. Text that is
// cut already needs no codes: words.h reads it.
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

namespace heed {

/// How subword-nmt's apply-bpe was told to cut.
struct SubwordNmtOptions {
  std::string separator = "@@";
  /// Merges into tokens that the vocabulary lacks or counts less often are undone; unset: none are.
  /// For a list without counts, 0.
  std::optional<std::int64_t> threshold = {};

  void fields(io::Fields& field) {
    field("separator", separator, "mark at the end of parts that are not the last of their word");
    field("threshold", threshold, "undo merges into tokens counted less often", {.min = 0});
  }
  void validate() const;
};

/// A tokenizer by BPE codes and a word list.
class SubwordNmt : public Tokenizer {
 public:
  SubwordNmt(BpeCodes codes, Vocabulary vocabulary, SubwordNmtOptions options = {});

  /// The text cut into tokens, marks included, as apply-bpe prints them.
  std::vector<std::string> cut(std::string_view text) const;

  std::string_view kind() const override { return "subword_nmt"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::int64_t size() const override { return vocabulary_.size(); }
  SpecialTokens special() const override { return vocabulary_.special(); }
  std::string piece(std::int32_t id) const override { return vocabulary_.token(id); }
  bool begins_word(std::int32_t id) const override { return !vocabulary_.is_silent(id); }
  bool continues_word(std::int32_t id) const override;
  std::vector<File> files() const override;

  const BpeCodes& codes() const { return codes_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const SubwordNmtOptions& options() const { return options_; }

 private:
  std::vector<std::string_view> parts_of(std::string_view word) const;

  BpeCodes codes_;
  Vocabulary vocabulary_;
  SubwordNmtOptions options_;
};

/// Reads a file of codes, plain or gzip.
BpeCodes load_bpe_codes(const std::filesystem::path& path);

/// The parts that codes cut the words of text files into, marks included, as a vocabulary.
Vocabulary count_subwords(std::span<const std::filesystem::path> paths, const BpeCodes& codes,
                          const VocabularyOptions& options = {}, std::string_view separator = "@@");

}  // namespace heed

// A tokenizer of words that are separated by white space, with a word list. Words that are not in
// the list are unknown. It also reads text that subword-nmt has already split ("wor@@ ld"): with
// the joint "@@", decode() joins the parts again. subword_nmt.h splits words itself.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/text_parts.h"
#include "heed/text/tokenizer.h"
#include "heed/text/vocabulary.h"

namespace heed {

/// The words of a text. Only ASCII white space separates words; a no-break space is part of a word.
std::vector<std::string_view> split_at_spaces(std::string_view text);

/// The joint of a vocabulary: "@@" if a token ends in it, otherwise "".
std::string joint_of(const Vocabulary& vocabulary);

/// Base of tokenizers with a word list. A token that ends in the joint is joined to the next one.
class VocabularyTokenizer : public Tokenizer, public TextParts {
 public:
  std::string decode(std::span<const std::int32_t> ids) const override {
    return decode_with(ids, {});
  }
  std::string decode_with(std::span<const std::int32_t> ids,
                          std::span<const std::string> words) const override;
  std::int64_t size() const override { return vocabulary_.size(); }
  SpecialTokens special() const override { return vocabulary_.special(); }
  std::string piece(std::int32_t id) const override { return vocabulary_.token(id); }
  bool begins_word(std::int32_t id) const override { return !vocabulary_.is_silent(id); }
  bool continues_word(std::int32_t id) const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& joint() const { return joint_; }

 protected:
  VocabularyTokenizer(Vocabulary vocabulary, std::string joint);

 private:
  Vocabulary vocabulary_;
  std::string joint_;
};

/// A tokenizer that uses a word list.
class Words : public VocabularyTokenizer {
 public:
  /// Uses the joint of the vocabulary.
  explicit Words(Vocabulary vocabulary);
  /// Uses the given joint; "" means none.
  Words(Vocabulary vocabulary, std::string joint);

  std::string_view kind() const override { return "words"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::vector<std::string> parts(std::string_view text) const override;
  std::vector<File> files() const override;
};

/// Makes a vocabulary of the words of text files, plain or gzip.
Vocabulary count_words(std::span<const std::filesystem::path> paths,
                       const VocabularyOptions& options = {});

}  // namespace heed

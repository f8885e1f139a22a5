// One token per code point, including line ends and spaces, for character language models. Decoding
// reproduces a text exactly if all its characters are in the vocabulary.
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

/// A tokenizer of code points. The unknown token is decoded as U+FFFD. White space belongs to the
/// word after it, as in SentencePiece.
class Characters : public Tokenizer, public TextParts {
 public:
  /// Every token but the special ones must be one code point.
  explicit Characters(Vocabulary vocabulary);

  std::string_view kind() const override { return "characters"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::vector<std::string> parts(std::string_view text) const override;
  std::string decode(std::span<const std::int32_t> ids) const override {
    return decode_with(ids, {});
  }
  std::string decode_with(std::span<const std::int32_t> ids,
                          std::span<const std::string> words) const override;
  std::int64_t size() const override { return vocabulary_.size(); }
  SpecialTokens special() const override { return vocabulary_.special(); }
  /// The character; white space is shown as "␣", "\n" and so on.
  std::string piece(std::int32_t id) const override;
  bool begins_word(std::int32_t id) const override;
  std::vector<File> files() const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

/// Makes a vocabulary of the code points of files, plain or gzip.
Vocabulary count_characters(std::span<const std::filesystem::path> paths,
                            const VocabularyOptions& options = {});

/// Makes a vocabulary of the code points of a text.
Vocabulary count_characters(std::string_view text, const VocabularyOptions& options = {});

}  // namespace heed

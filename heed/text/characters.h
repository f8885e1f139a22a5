// One token per code point, line ends and spaces too: for language models of characters. Decoding
// gives back every byte of a text whose characters are all in the vocabulary.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"
#include "heed/text/vocabulary.h"

namespace heed {

/// A tokenizer of code points. The text of unknown is U+FFFD. A word begins with its white space,
/// as SentencePiece's do.
class Characters : public Tokenizer {
 public:
  /// Every token but the special ones must be one code point.
  explicit Characters(Vocabulary vocabulary);

  std::string_view kind() const override { return "characters"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::int64_t size() const override { return vocabulary_.size(); }
  SpecialTokens special() const override { return vocabulary_.special(); }
  /// The character; white space so that it can be seen: "␣", "\n".
  std::string piece(std::int32_t id) const override;
  bool begins_word(std::int32_t id) const override;
  std::vector<File> files() const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

/// The code points of files, plain or gzip, as a vocabulary.
Vocabulary count_characters(std::span<const std::filesystem::path> paths,
                            const VocabularyOptions& options = {});

/// The code points of a text as a vocabulary.
Vocabulary count_characters(std::string_view text, const VocabularyOptions& options = {});

}  // namespace heed

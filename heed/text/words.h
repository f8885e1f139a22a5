// Words that white space parts, by a list. What is not in the list is unknown. Text that
// subword-nmt has cut already ("wor@@ ld") is such text too: a joint, "@@", tells decode() to put
// it together. Cutting it here is subword_nmt.h's work.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"
#include "heed/text/vocabulary.h"

namespace heed {

/// The words of a text. White space is ASCII's: a no-break space belongs to its word.
std::vector<std::string_view> split_at_spaces(std::string_view text);

/// The joint of a vocabulary: "@@" if a token ends in it, none ("") otherwise.
std::string joint_of(const Vocabulary& vocabulary);

/// Tokens as text, parted by spaces; those that end in the joint, if there is one, are put together
/// with the next, as sed 's/@@ //g' does.
std::string join_tokens(const Vocabulary& vocabulary, std::span<const std::int32_t> ids,
                        std::string_view joint);

/// A tokenizer by a list of words.
class Words : public Tokenizer {
 public:
  /// The joint is that of the vocabulary.
  explicit Words(Vocabulary vocabulary);
  /// With a joint, or none ("").
  Words(Vocabulary vocabulary, std::string joint);

  std::string_view kind() const override { return "words"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::int64_t size() const override { return vocabulary_.size(); }
  SpecialTokens special() const override { return vocabulary_.special(); }
  std::string piece(std::int32_t id) const override { return vocabulary_.token(id); }
  bool begins_word(std::int32_t id) const override { return !vocabulary_.is_silent(id); }
  bool continues_word(std::int32_t id) const override;
  std::vector<File> files() const override;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& joint() const { return joint_; }

 private:
  Vocabulary vocabulary_;
  std::string joint_;
};

/// The words of text files, plain or gzip, as a vocabulary.
Vocabulary count_words(std::span<const std::filesystem::path> paths,
                       const VocabularyOptions& options = {});

}  // namespace heed

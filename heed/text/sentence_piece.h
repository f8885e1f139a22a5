// SentencePiece models (Kudo and Richardson 2018, https://arxiv.org/abs/1808.06226): subwords of
// raw text, with spaces written as "▁". The SentencePiece library does the work. Training is in
// sentence_piece_training.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed {

/// A tokenizer that uses a SentencePiece model. Text is normalised as the model specifies, usually
/// with NFKC and to single spaces; decode() returns the normalised text.
class SentencePiece : public Tokenizer {
 public:
  /// Takes the content of a .model file; `source` names it in messages.
  explicit SentencePiece(std::string model, std::string_view source = "SentencePiece model");
  ~SentencePiece() override;

  std::string_view kind() const override { return "sentencepiece"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  /// The unknown token is decoded as " ⁇ ".
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::int64_t size() const override;
  SpecialTokens special() const override { return special_; }
  std::string piece(std::int32_t id) const override;
  bool begins_word(std::int32_t id) const override;
  std::vector<File> files() const override;

  /// The tokens of a text as texts; one that is unknown is the text itself.
  std::vector<std::string> pieces(std::string_view text) const;

  /// True if the model has a padding token; if not, special() gives the unknown token instead.
  bool has_padding() const { return has_padding_; }

 private:
  void check_id(std::int32_t id) const;

  struct Library;  // keeps SentencePiece's headers out of this one
  std::unique_ptr<Library> library_;
  std::string model_;
  SpecialTokens special_;
  bool has_padding_ = false;
};

}  // namespace heed

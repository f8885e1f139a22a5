// A SentencePiece model whose pieces get their ids from a list of their own, vocab.json: Marian's
// translators (source.spm, target.spm) and M2M100 (sentencepiece.bpe.model). A piece that the list
// lacks is unknown.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/token_table.h"
#include "heed/text/sentence_piece.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// A SentencePiece model with a list of ids.
class MappedPieces : public Tokenizer {
 public:
  /// Takes the content of a .model file and the list. A special token that the list lacks has the
  /// id that SpecialTokens names.
  MappedPieces(std::string model, std::string_view source, pipeline::TokenTable tokens);
  /// Reads the content of the file that files() gives.
  static std::unique_ptr<MappedPieces> parse(std::string_view content, std::string_view source);

  std::string_view kind() const override { return "mapped_pieces"; }
  /// A language code at the beginning, ">>fra<<", is one token if the list has it.
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int32_t> ids) const override;
  std::int64_t size() const override { return tokens_.limit(); }
  SpecialTokens special() const override { return special_; }
  std::string piece(std::int32_t id) const override;
  bool begins_word(std::int32_t id) const override;
  std::vector<File> files() const override;

  /// The id of a token, such as a language code.
  std::optional<std::int32_t> id_of(std::string_view token) const { return tokens_.id_of(token); }

 private:
  void check_id(std::int32_t id) const;

  SentencePiece model_;
  pipeline::TokenTable tokens_;
  SpecialTokens special_;
};

/// True if a text is a file of MappedPieces::files().
bool is_mapped_pieces_text(std::string_view text);

}  // namespace heed

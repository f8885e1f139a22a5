// Trains SentencePiece models on text. The same text, options and seed give the same bytes on any
// number of threads and in any process.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/io/fields.h"

namespace heed {

/// The algorithm that chooses the pieces.
enum class PieceModel { unigram, bpe, character, word };

constexpr std::array<io::EnumName<PieceModel>, 4> enum_names(PieceModel) {
  return {{{PieceModel::unigram, "unigram"},
           {PieceModel::bpe, "bpe"},
           {PieceModel::character, "char"},
           {PieceModel::word, "word"}}};
}

/// The normalisation of the text, one of SentencePiece's rule sets.
enum class PieceNormalization { nmt_nfkc, nfkc, nmt_nfkc_lower, nfkc_lower, identity };

constexpr std::array<io::EnumName<PieceNormalization>, 5> enum_names(PieceNormalization) {
  return {{{PieceNormalization::nmt_nfkc, "nmt_nfkc"},
           {PieceNormalization::nfkc, "nfkc"},
           {PieceNormalization::nmt_nfkc_lower, "nmt_nfkc_cf"},
           {PieceNormalization::nfkc_lower, "nfkc_cf"},
           {PieceNormalization::identity, "identity"}}};
}

/// Options of the training. The unknown, begin, end and padding tokens have ids 0 to 3.
struct SentencePieceOptions {
  std::int64_t size = 8000;
  PieceModel model_type = PieceModel::unigram;
  double character_coverage = 0.9995;
  PieceNormalization normalization = PieceNormalization::nmt_nfkc;
  std::vector<std::string> user_symbols = {};
  bool byte_fallback = false;
  std::int64_t sample = 0;
  std::int64_t max_sentence_bytes = 4192;
  std::uint64_t seed = 1;

  void fields(io::Fields& field);
  void validate() const;
};

/// Trains a model on the lines of text files, plain or gzip, and returns the content of the .model
/// file.
std::string train_sentence_piece(std::span<const std::filesystem::path> paths,
                                 const SentencePieceOptions& options = {});

/// Trains a model on sentences.
std::string train_sentence_piece(std::span<const std::string> sentences,
                                 const SentencePieceOptions& options = {});

}  // namespace heed

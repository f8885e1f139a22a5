// What a SentencePiece .model file holds, read without the library: the pieces with their scores
// and kinds, and the compiled normalisation rules, which the library does not give out. The file is
// a protocol buffer (sentencepiece_model.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::pipeline {

/// The parts of a SentencePiece model that a tokenizer.json needs.
struct SpmFile {
  /// The kinds of pieces, as numbered in the file.
  enum class Kind { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    Kind kind = Kind::normal;
  };
  enum class Model { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<Piece> pieces;
  std::string charsmap;
  Model model = Model::unigram;
  bool byte_fallback = false;
  std::int64_t unknown = 0;

  /// Reads the content of a .model file; `source` names it in messages.
  static SpmFile parse(std::string_view content, std::string_view source);
};

}  // namespace heed::pipeline

// Which of a translator's three matrices over a vocabulary are tied, that is, one matrix.
#pragma once

#include <array>
#include <cstdint>

#include "heed/io/codec.h"

namespace heed {

enum class Tied : std::uint8_t {
  none,
  two,        ///< The target's embeddings and the output (Press and Wolf 2017).
  three,      ///< The source's embeddings too: the vocabulary must be shared.
  embeddings  ///< The embeddings of source and target, but not the output (T5 1.1).
};

/// The names that configs use.
constexpr std::array<io::EnumName<Tied>, 4> enum_names(Tied) {
  return {{{Tied::none, "none"},
           {Tied::two, "two"},
           {Tied::three, "three"},
           {Tied::embeddings, "embeddings"}}};
}
/// Whether source and target have the same embeddings, so that the vocabulary must be shared.
constexpr bool shares_embeddings(Tied tied) {
  return tied == Tied::three || tied == Tied::embeddings;
}
/// Whether the output has a matrix of its own.
constexpr bool has_own_output(Tied tied) { return tied == Tied::none || tied == Tied::embeddings; }

/// The help of the key.
inline constexpr const char* kTiedHelp =
    "embeddings that share one matrix: two (target, output), three (source too), embeddings "
    "(source, target), none";

/// Sizes of the vocabularies of a translator; 0: not known yet.
struct VocabularySizes {
  std::int64_t source = 0, target = 0;
};
/// Throws if tied embeddings need one vocabulary and there are two; `model` is the name in the
/// message.
void check_tied(const char* model, Tied tied, const VocabularySizes& sizes);

}  // namespace heed

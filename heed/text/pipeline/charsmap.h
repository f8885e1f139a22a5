// The normalisation rules that SentencePiece compiles into its models ("precompiled_charsmap"): a
// double-array trie (Aoe 1989, as in Darts-clone) from byte sequences to positions in a block of
// texts that end with a zero byte. The rules are applied as Hugging Face's package does it, which
// differs from SentencePiece: per grapheme cluster, with the shortest rule that matches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/aligned_text.h"

namespace heed::pipeline {

/// Rules that replace short sequences of characters.
class Charsmap {
 public:
  /// Reads the bytes of a charsmap; `where` names them in messages.
  Charsmap(std::string_view bytes, std::string_view where);

  /// Replaces what the rules name.
  void normalize(AlignedText& text) const;
  /// The replacement by the shortest rule that matches the beginning of a text.
  std::optional<std::string_view> replacement(std::string_view text) const;

 private:
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace heed::pipeline

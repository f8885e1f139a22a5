// A text that is being rewritten, with the place in the original text of each of its bytes. The
// pipeline of a tokenizer normalises and splits such texts; tokens get their offsets from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"
#include "heed/text/unicode_forms.h"

namespace heed::pipeline {

/// Text and the span in the original text of the character that each byte came from. Spans are
/// whole characters.
struct AlignedText {
  std::string text;
  std::vector<TextSpan> spans;  ///< One per byte of `text`.
  std::uint32_t origin = 0;     ///< Where the original text of this part begins.

  /// A part of an original text as it is; it begins at byte `origin` there. Bytes that are not
  /// UTF-8 become U+FFFD.
  static AlignedText of(std::string_view original, std::uint32_t origin = 0);
  /// The bytes [begin, end).
  AlignedText slice(std::size_t begin, std::size_t end) const;

  /// Replaces the whole text. The changes consume the old characters in order; the first `skipped`
  /// of them are removed first.
  void rewrite(const std::vector<unicode::Change>& changes, std::size_t skipped = 0);
  /// Puts text before the first character and aligns it with that; does nothing to an empty text.
  void prepend(std::string_view prefix);
  /// Appends a text that is aligned with one span.
  void append(std::string_view added, TextSpan span) {
    text += added;
    spans.insert(spans.end(), added.size(), span);
  }
  /// Appends the bytes [begin, end) of another text.
  void append(const AlignedText& other, std::size_t begin, std::size_t end);
  /// Keeps only the characters that `keep` accepts.
  void filter(bool (*keep)(char32_t));
  /// Replaces each character by another.
  void map(char32_t (*change)(char32_t));
};

/// A part of a text: the bytes [begin, end), and the id if it is an added token.
struct Piece {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::int32_t token = -1;
};

/// A text and the parts it is split into, in order. Bytes between parts were removed.
struct Pieces {
  AlignedText all;
  std::vector<Piece> pieces;

  std::string_view text(const Piece& piece) const {
    return std::string_view(all.text).substr(piece.begin, piece.end - piece.begin);
  }
  /// The span of bytes [begin, end) of the text, which must not be empty, in the original text.
  TextSpan span(std::size_t begin, std::size_t end) const {
    return {all.spans[begin].begin, all.spans[end - 1].end};
  }
  /// Appends a part, unless it is empty.
  void add(const AlignedText& from, std::size_t begin, std::size_t end, std::int32_t token = -1);
};

}  // namespace heed::pipeline

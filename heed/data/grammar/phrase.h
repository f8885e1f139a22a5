// The same words in English and Chinese, with links between what means the same. A link is a
// number that pieces of both languages carry: it stays right wherever the pieces are moved to, so
// the word alignment of a sentence is known by construction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/random.h"
#include "heed/data/grammar.h"

namespace heed::grammar {

/// One English word, or some Chinese characters.
struct Piece {
  std::string text;
  std::vector<int> links;
  bool sure = true;  ///< False: belongs there, but does not mean the same (articles, 了, 的).
};

/// A run of pieces in one language.
using Words = std::vector<Piece>;

/// Pieces in a row.
template <typename... More>
Words join(Words first, const More&... more) {
  (first.insert(first.end(), more.begin(), more.end()), ...);
  return first;
}

/// A phrase in both languages.
struct Phrase {
  Words english;
  Words chinese;
};

/// The words of a text, each with the same link; Chinese has no spaces and stays one piece.
Words words(std::string_view text, int link);
/// The same, for words that have no counterpart of their own.
Words weak(std::string_view text, int link);
/// "a" or "an", by the first letter of what follows; weak or not as asked.
Words article(const Words& following, int link, bool sure);

/// Whether two runs read the same.
bool same_text(const Words& a, const Words& b);

/// Draws choices and hands out links for one sentence: all is a function of seed and number.
class Speaker {
 public:
  Speaker(std::uint64_t seed, std::int64_t sentence);

  /// A number in [0, bound).
  int below(int bound);
  /// A number in [first, last].
  int between(int first, int last) { return first + below(last - first + 1); }
  /// True in so many cases of a hundred.
  bool chance(int percent) { return below(100) < percent; }
  /// Any of a list.
  template <typename List>
  const auto& pick(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(std::size(list))))];
  }
  /// Any of those of a list that fit; there must be one.
  template <typename List, typename Fits>
  const auto& pick(const List& list, const Fits& fits) {
    while (true) {
      const auto& candidate = pick(list);
      if (fits(candidate)) return candidate;
    }
  }
  /// A link that no piece carries yet.
  int link() { return next_link_++; }
  /// Words that mean the same as a whole.
  Phrase same(std::string_view english, std::string_view chinese);

 private:
  RandomStream random_;
  std::uint64_t next_ = 0;
  int next_link_ = 0;
};

/// Writes the sentence out: a capital at the start, the mark ("." or "?") at the end.
GrammarPair finish(Phrase sentence, char mark);

}  // namespace heed::grammar

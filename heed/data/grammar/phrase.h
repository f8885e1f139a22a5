// Phrases in English and Chinese, with links between words of the same meaning. A link is a number
// that pieces of both languages carry. It stays valid when pieces are moved, so the word alignment
// of a sentence is known by construction.
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
  bool sure = true;  ///< False for articles, 了, 的 and others without a meaning of their own.
};

/// A sequence of pieces in one language.
using Words = std::vector<Piece>;

/// Concatenates pieces.
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

/// The words of a text, all with the same link. Chinese has no spaces and stays one piece.
Words words(std::string_view text, int link);
/// The same, for words without a counterpart of their own (sure = false).
Words weak(std::string_view text, int link);
/// "a" or "an", by the first letter of the following words.
Words article(const Words& following, int link, bool sure);

/// True if the texts are equal.
bool same_text(const Words& a, const Words& b);

/// Makes random choices and gives out links for one sentence; both depend only on seed and number.
class Speaker {
 public:
  /// `rare_names` percent of names are made up.
  Speaker(std::uint64_t seed, std::int64_t sentence, int rare_names = 0);

  /// A number in [0, bound).
  int below(int bound);
  /// A number in [first, last].
  int between(int first, int last) { return first + below(last - first + 1); }
  /// True with this probability in percent.
  bool chance(int percent) { return below(100) < percent; }
  /// A random element of a list.
  template <typename List>
  const auto& pick(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(std::size(list))))];
  }
  /// A random element of a list that fits; there must be one.
  template <typename List, typename Fits>
  const auto& pick(const List& list, const Fits& fits) {
    while (true) {
      const auto& candidate = pick(list);
      if (fits(candidate)) return candidate;
    }
  }
  /// Whether the next name is made up. Draws nothing if none is, so that sentences stay the same.
  bool makes_up_name() { return rare_names_ > 0 && chance(rare_names_); }
  /// A new link.
  int link() { return next_link_++; }
  /// A phrase whose words all have the same link.
  Phrase same(std::string_view english, std::string_view chinese);

 private:
  RandomStream random_;
  std::uint64_t next_ = 0;
  int next_link_ = 0;
  int rare_names_;
};

/// Makes the final texts: a capital letter at the start, the mark ("." or "?") at the end;
/// GrammarForm::spaced says what `spaced` does.
GrammarPair finish(Phrase sentence, char mark, bool spaced = false);

}  // namespace heed::grammar

#include "heed/evaluation/edit_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "heed/base/error.h"

namespace heed::evaluation {
namespace {

constexpr int kMaxShiftSize = 10;
constexpr int kMaxShiftDistance = 50;
constexpr int kMaxCandidates = 1000;
constexpr int kBeam = 25;
constexpr int kUnreached = std::numeric_limits<int>::max() / 2;

// The edit that leads to a cell of the table: keep or substitute a word, remove a word of the
// hypothesis, or insert a word of the reference.
enum class Step : char { keep, substitute, remove, insert };

struct Cell {
  int cost = kUnreached;
  Step step = Step::insert;
};

int length(std::u32string_view words) { return static_cast<int>(words.size()); }
char32_t word(std::u32string_view words, int i) { return words[static_cast<std::size_t>(i)]; }

// The table of the Levenshtein distance to one reference; each row holds only the cells near the
// diagonal. All hypotheses have the same length, so a row depends only on the words before it, and
// the rows of the last base() are reused for every hypothesis with the same first words.
class EditTable {
 public:
  EditTable(std::u32string_view reference, int hypothesis_length)
      : reference_(reference), rows_(static_cast<std::size_t>(hypothesis_length) + 1) {
    const int columns = length(reference) + 1;
    const double ratio =
        hypothesis_length > 0 ? double(length(reference)) / hypothesis_length : 1.0;
    // If the lengths differ much, a narrow beam would leave no overlap between neighbouring rows.
    const int beam = kBeam < ratio / 2 ? static_cast<int>(std::ceil(ratio / 2 + kBeam)) : kBeam;
    for (int i = 0; i <= hypothesis_length; ++i) {
      const int diagonal = static_cast<int>(std::floor(i * ratio));
      const bool whole = i == 0 || i == hypothesis_length;
      Row& row = rows_[static_cast<std::size_t>(i)];
      row.begin = i == 0 ? 0 : std::max(0, diagonal - beam);
      const int end = whole ? columns : std::min(columns, diagonal + beam);
      row.cells.resize(static_cast<std::size_t>(std::max(0, end - row.begin)));
    }
    for (int j = 0; j < columns; ++j) rows_[0].cells[static_cast<std::size_t>(j)].cost = j;
  }

  // The distance of the hypothesis that the next candidates are compared with.
  int base(std::u32string_view hypothesis) {
    base_ = hypothesis;
    fill(hypothesis, 0);
    fresh_ = rows_.size() - 1;
    return rows_.back().cells.back().cost;
  }

  // The distance of a hypothesis of the same length.
  int distance(std::u32string_view hypothesis) {
    const auto differ = std::mismatch(hypothesis.begin(), hypothesis.end(), base_.begin()).first;
    const auto same = static_cast<std::size_t>(differ - hypothesis.begin());
    // Rows after fresh_ belong to the previous candidate.
    for (; fresh_ < same; ++fresh_) fill_row(base_, fresh_ + 1);
    fill(hypothesis, same);
    fresh_ = same;
    return rows_.back().cells.back().cost;
  }

  // The steps of the best path of base(), in order; call it directly after base().
  std::vector<Step> steps() const {
    std::vector<Step> path;
    std::size_t i = rows_.size() - 1;
    for (int j = length(reference_); i > 0 || j > 0;) {
      const Cell at = rows_[i].at(j);
      HEED_ASSERT(at.cost < kUnreached);
      path.push_back(at.step);
      if (at.step != Step::insert) --i;
      if (at.step != Step::remove) --j;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  struct Row {
    int begin = 0;
    std::vector<Cell> cells = {};

    Cell at(int j) const {
      const int k = j - begin;
      return k >= 0 && k < static_cast<int>(cells.size()) ? cells[static_cast<std::size_t>(k)]
                                                          : Cell{};
    }
  };

  void fill(std::u32string_view hypothesis, std::size_t from) {
    for (std::size_t i = from + 1; i < rows_.size(); ++i) fill_row(hypothesis, i);
  }

  // Of equal costs the first one wins; alignments, and so shifts, depend on that order.
  void fill_row(std::u32string_view hypothesis, std::size_t i) {
    const Row& above = rows_[i - 1];
    Cell left;
    int j = rows_[i].begin;
    for (Cell& cell : rows_[i].cells) {
      Cell best;
      const auto offer = [&best](int cost, Step step) {
        if (cost < best.cost) best = {cost, step};
      };
      if (j > 0) {
        const bool same = hypothesis[i - 1] == word(reference_, j - 1);
        offer(above.at(j - 1).cost + (same ? 0 : 1), same ? Step::keep : Step::substitute);
      }
      offer(above.at(j).cost + 1, Step::remove);
      if (j > 0) offer(left.cost + 1, Step::insert);
      cell = left = best;
      ++j;
    }
  }

  std::u32string_view reference_;
  std::vector<Row> rows_;
  std::u32string base_;
  std::size_t fresh_ = 0;  // rows up to this one belong to base_
};

// The words that the steps do not match, and the positions of the reference words in the
// hypothesis.
struct Alignment {
  std::vector<int>
      position;  // for each reference word, the hypothesis word at or before it; -1: none
  std::vector<bool> hypothesis_wrong;
  std::vector<bool> reference_wrong;
};

Alignment align(const std::vector<Step>& steps) {
  Alignment result;
  int at = -1;
  for (const Step step : steps) {
    const bool wrong = step != Step::keep;
    if (step != Step::insert) {
      ++at;
      result.hypothesis_wrong.push_back(wrong);
    }
    if (step != Step::remove) {
      result.position.push_back(at);
      result.reference_wrong.push_back(wrong);
    }
  }
  return result;
}

bool any(const std::vector<bool>& flags, int begin, int size) {
  return std::find(flags.begin() + begin, flags.begin() + begin + size, true) !=
         flags.begin() + begin + size;
}

// Moves `size` words at `from` to before the word now at `to`. If that is inside the block itself,
// the block moves on by as many words, as in Tercom.
std::u32string shift(std::u32string_view words, int from, int size, int to) {
  std::u32string result(words);
  const auto begin = result.begin();
  if (to < from) {
    std::rotate(begin + to, begin + from, begin + from + size);
  } else {
    const int end = to > from + size ? to : std::min(length(words), to + size);
    std::rotate(begin + from, begin + from + size, begin + end);
  }
  return result;
}

class ShiftSearch {
 public:
  ShiftSearch(std::u32string_view hypothesis, std::u32string_view reference)
      : words_(hypothesis), reference_(reference), table_(reference, length(hypothesis)) {}

  std::int64_t edits() {
    std::int64_t shifts = 0;
    while (improve()) ++shifts;
    return shifts + table_.base(words_);
  }

 private:
  // The gain of a shift, its length, how early it starts and how early its target is: Tercom's
  // order of preference.
  using Rank = std::tuple<int, int, int, int>;

  // Makes the best shift; returns false if none helps or the search limit is reached.
  bool improve() {
    const int before = table_.base(words_);
    const Alignment alignment = align(table_.steps());
    found_ = false;
    for (int from = 0; from < length(words_) && candidates_ < kMaxCandidates; ++from) {
      for (int target = 0; target < length(reference_) && candidates_ < kMaxCandidates; ++target) {
        if (std::abs(target - from) <= kMaxShiftDistance)
          try_block(from, target, before, alignment);
      }
    }
    if (candidates_ >= kMaxCandidates || !found_ || std::get<0>(best_) <= 0) return false;
    words_ = best_words_;
    return true;
  }

  // Tries all blocks that start at `from` and match the reference at `target`.
  void try_block(int from, int target, int before, const Alignment& alignment) {
    const int longest =
        std::min({kMaxShiftSize, length(words_) - from, length(reference_) - target});
    for (int size = 1; size <= longest && candidates_ < kMaxCandidates; ++size) {
      if (word(words_, from + size - 1) != word(reference_, target + size - 1)) return;
      const int place = alignment.position[static_cast<std::size_t>(target)];
      const bool useful = any(alignment.hypothesis_wrong, from, size) &&
                          any(alignment.reference_wrong, target, size);
      if (useful && !(from <= place && place < from + size)) {
        try_places(from, target, size, before, alignment);
      }
    }
  }

  // Tries to move one block to the positions of the reference words at and before `target`.
  void try_places(int from, int target, int size, int before, const Alignment& alignment) {
    int previous = -1;
    for (int offset = -1; offset < size; ++offset) {
      const int at = target + offset;
      const int to = at < 0 ? 0 : alignment.position[static_cast<std::size_t>(at)] + 1;
      if (to == previous) continue;
      previous = to;
      std::u32string shifted = shift(words_, from, size, to);
      const Rank rank{before - table_.distance(shifted), size, -from, -to};
      ++candidates_;
      if (!found_ || rank > best_) {
        found_ = true;
        best_ = rank;
        best_words_ = std::move(shifted);
      }
    }
  }

  std::u32string words_;
  std::u32string_view reference_;
  EditTable table_;
  int candidates_ = 0;
  bool found_ = false;
  Rank best_;
  std::u32string best_words_;
};

}  // namespace

std::int64_t count_edits(std::u32string_view hypothesis, std::u32string_view reference) {
  if (reference.empty()) return static_cast<std::int64_t>(hypothesis.size());
  return ShiftSearch(hypothesis, reference).edits();
}

}  // namespace heed::evaluation

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

// How a cell of the table was reached: from the words so far of both, or by leaving out a word of
// the hypothesis, or by putting in one of the reference.
enum class Step : char { keep, substitute, remove, insert };

struct Cell {
  int cost = kUnreached;
  Step step = Step::insert;
};

int length(std::u32string_view words) { return static_cast<int>(words.size()); }
char32_t word(std::u32string_view words, int i) { return words[static_cast<std::size_t>(i)]; }

// The table of the Levenshtein distance to one reference; each row holds only the cells near the
// diagonal. All hypotheses asked for have the same length, so that rows depend on the words before
// them alone, and those of the last base() serve every hypothesis that begins like it.
class EditTable {
 public:
  EditTable(std::u32string_view reference, int hypothesis_length)
      : reference_(reference), rows_(static_cast<std::size_t>(hypothesis_length) + 1) {
    const int columns = length(reference) + 1;
    const double ratio =
        hypothesis_length > 0 ? double(length(reference)) / hypothesis_length : 1.0;
    // A wide ratio of lengths would leave no overlap between neighbouring rows.
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

  // The distance of a hypothesis, which candidates are then compared with.
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
    // Rows behind fresh_ are those of the candidate before this one.
    for (; fresh_ < same; ++fresh_) fill_row(base_, fresh_ + 1);
    fill(hypothesis, same);
    fresh_ = same;
    return rows_.back().cells.back().cost;
  }

  // The steps from the beginning to the end that base() took; only right after it.
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

  // Of equal costs the first offered wins; alignments, and so shifts, depend on that order.
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
  std::size_t fresh_ = 0;  // rows up to this one are those of base_
};

// Which words the steps leave wrong, and where the reference's words went.
struct Alignment {
  std::vector<int>
      position;  // of each reference word: the hypothesis word at or before it, -1: none
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

// `size` words at `from` moved to stand before the word now at `to`. Where that is within the block
// itself, it moves on by as many words, as in Tercom.
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
  // A shift's gain, then its length, then how early it starts and how early it goes: the order in
  // which Tercom prefers them.
  using Rank = std::tuple<int, int, int, int>;

  // Makes the best shift; false when none helps or the search has become too long.
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

  // All blocks that start at `from` and match the reference at `target`.
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

  // Moves one block to where the reference's words at and before `target` stand.
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

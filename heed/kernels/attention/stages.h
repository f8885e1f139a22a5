// A list of stages with the memory that they need, for one cell of the grid at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "heed/base/error.h"
#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

inline constexpr std::size_t kMaxStages = 16;

/// A list of stages and the memory that each needs.
template <typename T>
struct StageList {
  std::span<TileStage<T>* const> stages;
  std::array<StageNeeds, kMaxStages> needs;

  StageList(std::span<TileStage<T>* const> list, std::int64_t rows, bool backward) : stages(list) {
    HEED_ASSERT(list.size() <= kMaxStages);
    for (std::size_t i = 0; i < list.size(); ++i) needs[i] = list[i]->needs(rows, backward);
  }

  /// Elements for one cell: saved tiles of `tile` elements, and blocks.
  std::int64_t space(std::int64_t tile) const {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      total += (needs[i].saved ? tile : 0) + round_up(needs[i].block);
    }
    return total;
  }
  std::int64_t sums() const {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) total += needs[i].sums;
    return total;
  }
  /// Rounds up to whole cache lines, so that the next block is aligned.
  static std::int64_t round_up(std::int64_t n) { return (n + 15) / 16 * 16; }
};

/// Where a cell keeps its partial gradients; those of all cells are stored together for each stage.
template <typename T>
struct SumsAt {
  T* data = nullptr;  ///< list.sums() * cells elements, or null.
  std::int64_t cells = 0, cell = 0;
};

/// Runs the stages in one cell.
template <typename T>
class StageRun {
 public:
  /// `memory` has list.space(tile) elements.
  StageRun(const StageList<T>& list, std::int64_t tile, T* memory, SumsAt<T> sums = {})
      : stages_(list.stages) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const StageNeeds& needs = list.needs[i];
      spaces_[i].saved = needs.saved ? memory : nullptr;
      memory += needs.saved ? tile : 0;
      spaces_[i].block = memory;
      memory += StageList<T>::round_up(needs.block);
      if (sums.data == nullptr) continue;
      spaces_[i].sums = sums.data + sums.cell * needs.sums;
      sums.data += sums.cells * needs.sums;
    }
  }

  bool empty() const { return stages_.empty(); }
  void begin(const RowBlock<T>& block) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      spaces_[i].row = block.row;
      spaces_[i].stride = block.stride;
      stages_[i]->begin(block, spaces_[i]);
    }
  }
  /// `at` is the offset of the tile in the memory of a whole tile.
  void forward(const Tile<T>& tile, std::int64_t at) const {
    for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i]->forward(tile, space(i, at));
  }
  void backward(const Tile<T>& gradient, std::int64_t at) const {
    for (std::size_t i = stages_.size(); i-- > 0;) stages_[i]->backward(gradient, space(i, at));
  }
  void rescale(const T* factors) const {
    for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i]->rescale(factors, spaces_[i]);
  }
  void end(const RowBlock<T>& block) const {
    for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i]->end(block, spaces_[i]);
  }

 private:
  StageSpace<T> space(std::size_t i, std::int64_t at) const {
    StageSpace<T> space = spaces_[i];
    if (space.saved != nullptr) space.saved += at;
    return space;
  }

  std::span<TileStage<T>* const> stages_;
  std::array<StageSpace<T>, kMaxStages> spaces_{};
};

}  // namespace heed::kernels

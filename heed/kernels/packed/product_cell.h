// How a product with a packed matrix is divided among threads: into cells of rows and panels. The
// sizes of cells change no result, because each output is computed by itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/threads.h"
#include "heed/kernels/packed/product.h"

namespace heed::kernels {

struct ProductCell {
  std::int64_t row_begin, row_end;
  std::int64_t panel_begin, panel_end;
};

/// Rows of a cell, at most: so many times the weights of a tile are used once they are in cache.
inline constexpr std::int64_t kCellRows = 96;
/// Panels of a cell, at least.
inline constexpr std::int64_t kCellPanels = 4;
/// Multiplications of a cell, if there are enough panels: some microseconds.
inline constexpr std::int64_t kCellProducts = 1 << 18;

template <typename Run>
void for_product_cells(const PackedProduct& call, const Run& run) {
  const std::int64_t rows = std::min(call.rows, kCellRows), panels = call.weight.panels();
  const std::int64_t of_group = rows * call.weight.in * kPanelRows * kCellPanels;
  const std::int64_t groups =
      std::max<std::int64_t>(1, kCellProducts / std::max<std::int64_t>(1, of_group));
  const std::int64_t wide = std::min(groups * kCellPanels, panels);
  const std::int64_t across = (panels + wide - 1) / wide, down = (call.rows + rows - 1) / rows;
  const std::int64_t cost = rows * wide * kPanelRows * std::max<std::int64_t>(1, call.weight.in);
  parallel_for(across * down, cost, [&](std::int64_t i) {
    const std::int64_t row = i / across * rows, panel = i % across * wide;
    run(ProductCell{.row_begin = row,
                    .row_end = std::min(row + rows, call.rows),
                    .panel_begin = panel,
                    .panel_end = std::min(panel + wide, panels)});
  });
}

}  // namespace heed::kernels

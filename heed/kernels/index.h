// Reading and adding at positions given by an index tensor (i32 or i64). Indices are not checked
// here; use first_outside. There is only address arithmetic, so no SIMD and no twin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/kernels/lines.h"

namespace heed::kernels {

/// The position of the first index outside [0, size), or -1 if all are inside.
template <typename I>
std::int64_t first_outside(const I* index, std::int64_t count, std::int64_t size);

/// y[k] = x[index[k]] along every line, elements of 1, 2, 4 or 8 bytes. Operands: x, index, y.
template <typename I>
void gather(const Lines<3>& lines, std::size_t element_bytes, const void* x, const I* index,
            void* y);

/// y[index[k]] += x[k] along every line, in the order of k. Operands: x, index, y.
template <typename T, typename I>
void scatter_add(const Lines<3>& lines, const T* x, const I* index, T* y);

/// Rows chosen from a table: [outer, size, inner] and [outer, count, inner], both contiguous.
struct RowsShape {
  std::int64_t outer;
  std::int64_t size;
  std::int64_t count;
  std::int64_t inner;
};

/// y[o, j, :] = x[o, ids[j], :], elements of 1, 2, 4 or 8 bytes.
template <typename I>
void take_rows(RowsShape shape, std::size_t element_bytes, const void* x, const I* ids, void* y);

/// y[o, ids[j], :] += x[o, j, :] in the order of j, except for ids equal to `skip`.
template <typename T, typename I>
void add_rows(RowsShape shape, const T* x, const I* ids, std::int64_t skip, T* y);

}  // namespace heed::kernels

#include "heed/kernels/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <optional>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/flops.h"
#include "heed/base/signal_block.h"
#include "heed/kernels/copy.h"
#include "heed/kernels/reference/gemm.h"

#ifdef HEED_WITH_OPENMP
#include <omp.h>
#endif

namespace heed::kernels {
namespace {

// oneDNN would split the work by the number of its threads. OpenMP's thread count is a setting of
// the calling thread: it is set to 1 for the call and restored, so a user's own OpenMP code on this
// thread is not affected.
class SingleThreaded {
 public:
#ifdef HEED_WITH_OPENMP
  SingleThreaded() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~SingleThreaded() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  int before_;
#endif
};

// oneDNN's view of a matrix: stored as is ('N') or transposed ('T'), with one leading dimension.
struct Stored {
  char transposed;
  dnnl_dim_t leading;
};

Stored stored(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
              std::int64_t column_stride) {
  if (column_stride == 1 || columns <= 1)
    return {'N', std::max<std::int64_t>({row_stride, columns, 1})};
  HEED_ASSERT(row_stride == 1 || rows <= 1);
  return {'T', std::max<std::int64_t>({column_stride, rows, 1})};
}

// oneDNN 2.6 on AVX2 is fastest for row-major operands whose rows do not fall into few cache sets.
// For other operands, if each element is used often enough, a copy pays off (GF/s on Zen 4, peak
// 89): rows a multiple of 1 KiB apart, read as a panel down the rows: 55, copied 87 (64x512x512); a
// transposed b: 84, copied 88 (400x384x256).
constexpr std::int64_t kBadStride = 256;
constexpr std::int64_t kUsesForPadding = 48;
constexpr std::int64_t kUsesForTransposing = 1024;

bool worth_copying(std::int64_t rows, std::int64_t columns) { return rows >= 32 && columns >= 64; }

bool falls_into_few_sets(std::int64_t stride, std::int64_t uses) {
  return rows_collide(stride) && uses >= kUsesForPadding;
}

// Copies x row-major with padded rows.
Matrix<float> padded_copy(Matrix<float> x, std::int64_t rows, std::int64_t columns, float* to) {
  const std::int64_t leading = columns + kRowPadding;
  copy(make_nest<2>({rows, columns}, {Strides{x.row_stride, x.column_stride}, {leading, 1}}),
       sizeof(float), x.data, to);
  return {to, leading, 1};
}

// The tile grid of one product; it depends only on the shape. Large products are split into tiles
// of about a millisecond, which gives work to many threads. Smaller ones are split into fewer
// tiles, because every tile packs its operands again.
struct Tiles {
  std::int64_t rows, columns;
};

bool worth_splitting(std::int64_t tiles, std::int64_t multiply_adds) {
  constexpr std::int64_t kMega = 1 << 20;
  return multiply_adds > 64 * kMega || (tiles < 8 && multiply_adds >= 32 * kMega) ||
         (tiles < 4 && multiply_adds >= 4 * kMega);
}

Tiles tiles_of(GemmShape s, std::int64_t batch) {
  Tiles t{s.m, s.n};
  const auto count = [&] {
    return batch * ((s.m + t.rows - 1) / t.rows) * ((s.n + t.columns - 1) / t.columns);
  };
  while (worth_splitting(count(), t.rows * t.columns * s.k)) {
    // Halves are multiples of 16, so that only the last tile of a row is smaller.
    auto& longer = t.columns >= t.rows ? t.columns : t.rows;
    const std::int64_t half = ((longer + 1) / 2 + 15) / 16 * 16;
    if (half >= longer) break;
    longer = half;
  }
  return t;
}

template <typename T>
void finish_tile(const GemmCall<T>& call, std::int64_t rows, std::int64_t columns, T* c,
                 std::int64_t at, std::int64_t first_column) {
  const Epilogue<T>& e = call.epilogue;
  T* const before = e.before != nullptr ? e.before + at : c;
  // Parallel loops inside a cell run on this thread, because the pool does not nest.
  const Strides laid_out{call.ldc, 1};
  if (e.bias != nullptr) {
    binary(Binary::add, make_nest<3>({rows, columns}, {laid_out, {0, 1}, laid_out}), c,
           e.bias + first_column, before);
  } else if (before != c) {
    affine(make_nest<2>({rows, columns}, {laid_out, laid_out}), c, 1.0, 0.0, before);
  }
  if (e.activate) {
    unary(e.activation, make_nest<2>({rows, columns}, {laid_out, laid_out}), before, c);
  }
}

template <typename T>
void gemm_grid(const GemmCall<T>& call) {
  const GemmShape& s = call.shape;
  const std::int64_t batch = call.batch.count();
  if (s.m == 0 || s.n == 0 || batch == 0) return;
  add_flops(2 * batch * s.m * s.n * s.k);
  const Tiles t = tiles_of(s, batch);
  const std::int64_t across = (s.n + t.columns - 1) / t.columns;
  const std::int64_t down = (s.m + t.rows - 1) / t.rows;
  const std::int64_t cost = t.rows * t.columns * std::max<std::int64_t>(s.k, 1);
  // Of many small products, one call of the system for all; a signal waits a millisecond at most.
  constexpr std::int64_t kSmall = std::int64_t{1} << 24;
  std::optional<SignalBlock> block;
  if (batch > 1 && batch * down * across * cost <= kSmall) block.emplace();
  parallel_for(batch * down * across, cost, [&](std::int64_t cell) {
    const std::int64_t column = cell % across * t.columns;
    const std::int64_t row = cell / across % down * t.rows;
    const std::array<std::int64_t, 3> at = call.batch.at(cell / across / down);
    const GemmShape tile{std::min(t.rows, s.m - row), std::min(t.columns, s.n - column), s.k};
    const Matrix<T> a{call.a.data + at[0] + row * call.a.row_stride, call.a.row_stride,
                      call.a.column_stride};
    const Matrix<T> b{call.b.data + at[1] + column * call.b.column_stride, call.b.row_stride,
                      call.b.column_stride};
    const std::int64_t place = at[2] + row * call.ldc + column;
    gemm_serial(tile, a, b, call.beta, call.c + place, call.ldc);
    finish_tile(call, tile.m, tile.n, call.c + place, place, column);
  });
}

}  // namespace

bool rows_collide(std::int64_t row_stride) { return row_stride % kBadStride == 0; }

bool gemm_reads(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                std::int64_t column_stride) {
  const bool plain = (column_stride == 1 || columns <= 1) && (row_stride >= columns || rows <= 1);
  const bool transposed = (row_stride == 1 || rows <= 1) && (column_stride >= rows || columns <= 1);
  return plain || transposed;
}

void gemm_serial(GemmShape s, Matrix<float> a, Matrix<float> b, float beta, float* c,
                 std::int64_t ldc) {
  if (s.m == 0 || s.n == 0) return;
  if (s.k == 0) {  // oneDNN leaves c untouched
    for (std::int64_t i = 0; i < s.m && beta == 0.0f; ++i) std::fill_n(c + i * ldc, s.n, 0.0f);
    return;
  }
  const Stored sa = stored(s.m, s.k, a.row_stride, a.column_stride);
  const Stored sb = stored(s.k, s.n, b.row_stride, b.column_stride);
  [[maybe_unused]] const SingleThreaded single;
  const SignalBlock block;
  const dnnl_status_t status =
      dnnl_sgemm(sa.transposed, sb.transposed, s.m, s.n, s.k, 1.0f, a.data, sa.leading, b.data,
                 sb.leading, beta, c, std::max(ldc, s.n));
  HEED_ASSERT(status == dnnl_success);
}

void gemm_serial(GemmShape s, Matrix<double> a, Matrix<double> b, double beta, double* c,
                 std::int64_t ldc) {
  reference::gemm(s, a, b, beta, c, ldc);
}

void gemm(const GemmCall<float>& call) {
  const GemmShape& s = call.shape;
  const Matrix<float>&a = call.a, &b = call.b;
  const bool one = call.batch.count() == 1;
  const bool b_transposed = b.column_stride != 1;
  const bool copy_b =
      one && worth_copying(s.k, s.n) &&
      (b_transposed ? s.m >= kUsesForTransposing : falls_into_few_sets(b.row_stride, s.m));
  // A transposed a has k rows in memory, and is read down these rows.
  const bool copy_a = one && a.row_stride == 1 && a.column_stride != 1 && worth_copying(s.k, s.m) &&
                      falls_into_few_sets(a.column_stride, s.n);
  if (!copy_a && !copy_b) return gemm_grid(call);
  const Scratch<float> room_a(copy_a ? s.k * (s.m + kRowPadding) : 0);
  const Scratch<float> room_b(copy_b ? s.k * (s.n + kRowPadding) : 0);
  GemmCall<float> copied = call;
  if (copy_b) copied.b = padded_copy(b, s.k, s.n, room_b.data());
  if (copy_a) {
    const Matrix<float> memory = padded_copy({a.data, a.column_stride, 1}, s.k, s.m, room_a.data());
    copied.a = {memory.data, 1, memory.row_stride};
  }
  gemm_grid(copied);
}

void gemm(const GemmCall<double>& call) { gemm_grid(call); }

}  // namespace heed::kernels

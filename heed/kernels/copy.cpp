#include "heed/kernels/copy.h"

#include <cstring>
#include <type_traits>

namespace heed::kernels {
namespace {

// A transposing copy works on tiles, so that each cache line of both sides is used completely while
// it is in L1.
constexpr std::int64_t kTile = 16;

// True if the two innermost axes are swapped between the operands: rows of one are columns of the
// other.
bool transposes(const Nest<2>& nest) {
  if (nest.rank < 2) return false;
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  return nest.strides[0][inner - 1] == 1 && nest.strides[1][inner] == 1 &&
         nest.sizes[inner] >= kTile && nest.sizes[inner - 1] >= kTile;
}

template <typename T>
void transpose_tiles(const Nest<2>& nest, const T* from, T* to) {
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  const std::int64_t rows = nest.sizes[inner - 1];
  const std::int64_t columns = nest.sizes[inner];
  const std::int64_t stride_in = nest.strides[0][inner];
  const std::int64_t stride_out = nest.strides[1][inner - 1];
  Nest<2> outer = nest;  // the matrices, each split into strips of kTile output rows
  outer.sizes[inner - 1] = (rows + kTile - 1) / kTile;
  outer.strides[0][inner - 1] = kTile;
  outer.strides[1][inner - 1] = kTile * stride_out;
  outer.sizes[inner] = 1;
  const std::int64_t strips = outer.sizes[inner - 1];
  const std::int64_t per_cell =
      std::max<std::int64_t>(1, detail::kCellElements / (kTile * columns));
  const std::int64_t total = outer.count();
  parallel_for((total + per_cell - 1) / per_cell, per_cell * kTile * columns,
               [&](std::int64_t cell) {
                 std::int64_t strip = cell * per_cell;
                 const std::int64_t last = std::min(total, strip + per_cell);
                 detail::visit_runs(outer, strip, last, [&](const Run<2>& run) {
                   const std::int64_t height = std::min(kTile, rows - strip++ % strips * kTile);
                   for (std::int64_t c = 0; c < columns; c += kTile) {
                     const std::int64_t width = std::min(kTile, columns - c);
                     const T* const in = from + run.at[0] + c * stride_in;
                     T* const out = to + run.at[1] + c;
                     for (std::int64_t i = 0; i < height; ++i) {
                       for (std::int64_t j = 0; j < width; ++j)
                         out[i * stride_out + j] = in[j * stride_in + i];
                     }
                   }
                 });
               });
}

template <typename T>
void copy_as(const Nest<2>& nest, const T* from, T* to) {
  if (transposes(nest)) return transpose_tiles(nest, from, to);
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  const std::int64_t step_in = nest.strides[0][inner];
  const std::int64_t step_out = nest.strides[1][inner];
  for_each_run(nest, 1, [&](const Run<2>& run) {
    const T* const in = from + run.at[0];
    T* const out = to + run.at[1];
    if (step_in == 1 && step_out == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(run.length) * sizeof(T));
    } else {
      for (std::int64_t i = 0; i < run.length; ++i) out[i * step_out] = in[i * step_in];
    }
  });
}

template <typename To, typename From>
To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, BFloat16>) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

void copy(const Nest<2>& nest, std::size_t element_bytes, const void* from, void* to) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    copy_as(nest, static_cast<const T*>(from), static_cast<T*>(to));
  };
  switch (element_bytes) {
    case 1:
      return as(std::uint8_t{});
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(std::uint32_t{});
    case 8:
      return as(std::uint64_t{});
  }
  HEED_ASSERT(false);
}

void cast(const Nest<2>& nest, DType from_type, const void* from, DType to_type, void* to) {
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  const std::int64_t step_in = nest.strides[0][inner];
  const std::int64_t step_out = nest.strides[1][inner];
  visit_dtype(from_type, [&](auto in_zero) {
    visit_dtype(to_type, [&](auto out_zero) {
      const auto* const in = static_cast<const decltype(in_zero)*>(from);
      auto* const out = static_cast<decltype(out_zero)*>(to);
      for_each_run(nest, 1, [&](const Run<2>& run) {
        for (std::int64_t i = 0; i < run.length; ++i) {
          out[run.at[1] + i * step_out] =
              convert_element<decltype(out_zero)>(in[run.at[0] + i * step_in]);
        }
      });
    });
  });
}

template <typename T>
void fill(const Nest<1>& nest, T value, T* to) {
  const std::int64_t step = nest.strides[0][static_cast<std::size_t>(nest.rank - 1)];
  for_each_run(nest, 1, [&](const Run<1>& run) {
    for (std::int64_t i = 0; i < run.length; ++i) to[run.at[0] + i * step] = value;
  });
}

#define HEED_X(name, type, file_name) template void fill(const Nest<1>&, type, type*);
HEED_DTYPES(HEED_X)
#undef HEED_X

}  // namespace heed::kernels

#include "heed/kernels/attention/page.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "heed/base/arena.h"
#include "heed/base/dtype.h"
#include "heed/base/error.h"

namespace heed::kernels {
namespace {

template <typename F>
void with_element(CacheForm form, F&& f) {
  switch (form) {
    case CacheForm::f32:
      return f(float{});
    case CacheForm::bf16:
      return f(BFloat16{});
    case CacheForm::int8:
      return f(std::int8_t{});
  }
}

// The keys or the values of one head of a page.
template <typename E>
struct PagePart {
  PagePart(const PageShape& shape, std::byte* start)
      : scales(reinterpret_cast<float*>(start)),
        numbers(reinterpret_cast<E*>(start + shape.scale_bytes())) {}
  float* scales;  // int8: one for each position
  E* numbers;
};

// Writes n numbers of slot `slot`, `step` apart.
template <typename E>
void write_numbers(const PagePart<E>& part, std::int64_t slot, const float* from, std::int64_t n,
                   E* to, std::int64_t step) {
  if constexpr (std::is_same_v<E, std::int8_t>) {
    float greatest = 0.0f;
    bool is_finite = true;
    for (std::int64_t i = 0; i < n; ++i) {
      greatest = std::max(greatest, std::abs(from[i]));
      is_finite &= std::isfinite(from[i]);
    }
    // A number that is not finite makes the whole position NaN.
    part.scales[slot] = is_finite ? greatest / 127.0f : std::nanf("");
    const float factor = is_finite && greatest > 1e-30f ? 127.0f / greatest : 0.0f;
    for (std::int64_t i = 0; i < n; ++i) {
      to[i * step] = static_cast<std::int8_t>(factor > 0.0f ? std::lrintf(from[i] * factor) : 0);
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * step] = static_cast<E>(from[i]);
  }
}

// [16, D] -> [D, 16] in place.
template <typename E>
void transpose_keys(std::int64_t D, E* keys) {
  const Scratch<E> rows(kPagePositions * D);
  std::copy_n(keys, kPagePositions * D, rows.data());
  for (std::int64_t i = 0; i < D; ++i) {
    for (std::int64_t slot = 0; slot < kPagePositions; ++slot) *keys++ = rows[slot * D + i];
  }
}

template <typename E>
void write_part(const PageShape& shape, std::int64_t slot, std::int64_t count,
                const NewPositions& from, std::int64_t g, std::byte* page) {
  const PagePart<E> keys(shape, page + shape.keys_at(g)), values(shape, page + shape.values_at(g));
  const bool whole = count == kPagePositions;  // is transposed while it is written
  const std::int64_t width = shape.padded_values();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t to = slot + i;
    write_numbers(keys, to, from.k + g * from.k_head + i * from.k_position, shape.D,
                  keys.numbers + (whole ? to : to * shape.D), whole ? kPagePositions : 1);
    E* const value = values.numbers + to * width;
    write_numbers(values, to, from.v + g * from.v_head + i * from.v_position, shape.Dv, value, 1);
    std::fill_n(value + shape.Dv, width - shape.Dv, E{});
  }
  if (!whole && slot + count == kPagePositions) transpose_keys(shape.D, keys.numbers);
}

}  // namespace

void write_positions(const PageShape& shape, std::int64_t slot, std::int64_t count,
                     const NewPositions& from, std::byte* page) {
  HEED_ASSERT(slot >= 0 && slot + count <= kPagePositions);
  with_element(shape.form, [&](auto e) {
    for (std::int64_t g = 0; g < shape.G; ++g) {
      write_part<decltype(e)>(shape, slot, count, from, g, page);
    }
  });
}

void copy_positions(const PageShape& shape, std::int64_t count, const std::byte* from,
                    std::byte* to) {
  HEED_ASSERT(count < kPagePositions);
  const auto copy = [&](std::int64_t at, std::int64_t features) {
    const std::int64_t bytes = shape.scale_bytes() + count * features * size_of(shape.form);
    std::memcpy(to + at, from + at, static_cast<std::size_t>(bytes));
  };
  for (std::int64_t g = 0; g < shape.G; ++g) {
    copy(shape.keys_at(g), shape.D);
    copy(shape.values_at(g), shape.padded_values());
  }
}

void read_position(const PageShape& shape, const std::byte* page, std::int64_t count,
                   std::int64_t slot, std::int64_t g, float* k, float* v) {
  const auto read = [&](auto e, std::int64_t at, std::int64_t first, std::int64_t step,
                        std::int64_t n, float* to) {
    using E = decltype(e);
    const PagePart<E> part(shape, const_cast<std::byte*>(page) + at);
    const float scale = shape.form == CacheForm::int8 ? part.scales[slot] : 1.0f;
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = scale * static_cast<float>(part.numbers[first + i * step]);
    }
  };
  const bool full = count == kPagePositions;
  with_element(shape.form, [&](auto e) {
    read(e, shape.keys_at(g), full ? slot : slot * shape.D, full ? kPagePositions : 1, shape.D, k);
    read(e, shape.values_at(g), slot * shape.padded_values(), 1, shape.Dv, v);
  });
}

}  // namespace heed::kernels

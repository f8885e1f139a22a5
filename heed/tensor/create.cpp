#include "heed/tensor/create.h"

#include "heed/base/threads.h"
#include "heed/kernels/copy.h"

namespace heed {
namespace {

void check_shape(const Shape& shape, DType dtype) {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t size : shape) {
    HEED_CHECK(size >= 0, "[tensor] shape {} has a negative size", to_string(shape));
    HEED_CHECK(!__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes),
               "[tensor] shape {} holds more elements than memory can", to_string(shape));
  }
}

// Fills a float tensor from value(index). Random numbers are counter-based, so the result is the
// same however the range is split.
template <typename F>
Tensor generate(const Shape& shape, DType dtype, const F& value) {
  HEED_CHECK(dtype == DType::f32 || dtype == DType::f64,
             "[random] dtype {}: random values are f32 or f64; use cast for others",
             name_of(dtype));
  Tensor x = empty(shape, dtype);
  constexpr std::int64_t kCell = 4096;
  const std::int64_t n = x.numel();
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      T* const out = x.mutable_data<T>();
      parallel_for((n + kCell - 1) / kCell, kCell * 20, [&](std::int64_t cell) {
        for (std::int64_t i = cell * kCell; i < std::min(n, (cell + 1) * kCell); ++i) {
          out[i] = static_cast<T>(value(static_cast<std::uint64_t>(i)));
        }
      });
    }
  });
  return x;
}

}  // namespace

Tensor empty(const Shape& shape, DType dtype) {
  check_shape(shape, dtype);
  const auto bytes = static_cast<std::size_t>(numel(shape)) * size_of(dtype);
  return {Storage::allocate(bytes), dtype, shape, row_major(shape), 0};
}

Tensor empty_like(const Tensor& x) { return empty(x.shape(), x.dtype()); }

Tensor full(const Shape& shape, double value, DType dtype) {
  Tensor x = empty(shape, dtype);
  const auto nest = kernels::make_nest<1>({x.numel()}, {Strides{1}});
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, BFloat16>) {
      kernels::fill(nest, BFloat16(static_cast<float>(value)), x.mutable_data<T>());
    } else if constexpr (std::is_same_v<T, bool>) {
      kernels::fill(nest, value != 0.0, x.mutable_data<T>());
    } else {
      kernels::fill(nest, static_cast<T>(value), x.mutable_data<T>());
    }
  });
  return x;
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0.0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1.0, dtype); }
Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

Tensor arange(std::int64_t n, DType dtype) {
  HEED_CHECK(n >= 0, "[arange] {} elements: the count must not be negative", n);
  Tensor x = empty({n}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const out = x.mutable_data<T>();
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, BFloat16>) {
        out[i] = BFloat16(static_cast<float>(i));
      } else {
        out[i] = static_cast<T>(i);
      }
    }
  });
  return x;
}

template <typename T>
Tensor from_values(std::span<const T> values, const Shape& shape) {
  Tensor x = empty(shape, dtype_of<T>);
  HEED_CHECK(x.numel() == static_cast<std::int64_t>(values.size()),
             "[from_values] {} values do not fill shape {}, which holds {}", values.size(),
             to_string(shape), x.numel());
  std::copy(values.begin(), values.end(), x.mutable_data<T>());
  return x;
}

#define HEED_X(name, type, file_name) \
  template Tensor from_values(std::span<const type>, const Shape&);
HEED_DTYPES(HEED_X)
#undef HEED_X

Tensor borrow(const std::byte* data, DType dtype, const Shape& shape,
              std::shared_ptr<const void> keeper) {
  check_shape(shape, dtype);
  HEED_CHECK(keeper != nullptr, "[borrow] nothing keeps the data alive: pass a keeper");
  HEED_CHECK(reinterpret_cast<std::uintptr_t>(data) % size_of(dtype) == 0,
             "[borrow] the data is not aligned to {} bytes, as {} needs: copy it first",
             size_of(dtype), name_of(dtype));
  const auto bytes = static_cast<std::size_t>(numel(shape)) * size_of(dtype);
  return {Storage::borrow(data, bytes, std::move(keeper)), dtype, shape, row_major(shape), 0};
}

Tensor uniform(const Shape& shape, double low, double high, Generator& generator, DType dtype) {
  const RandomStream stream = generator.next();
  return generate(shape, dtype, [=](std::uint64_t i) {
    return low + (high - low) * static_cast<double>(stream.uniform(i));
  });
}

Tensor normal(const Shape& shape, double mean, double deviation, Generator& generator,
              DType dtype) {
  const RandomStream stream = generator.next();
  return generate(shape, dtype, [=](std::uint64_t i) {
    return mean + deviation * static_cast<double>(stream.normal(i));
  });
}

Tensor randn(const Shape& shape, DType dtype) {
  return normal(shape, 0.0, 1.0, default_generator(), dtype);
}

}  // namespace heed

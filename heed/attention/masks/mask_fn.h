// A mask from a function of the user's, compiled into the loop that calls it.
#pragma once

#include <algorithm>
#include <limits>

#include "heed/attention/mask.h"
#include "heed/base/error.h"
#include "heed/kernels/attention/inline_loop.h"

namespace heed {

namespace detail {

template <typename F>
class FunctionVisibility : public kernels::Visibility {
 public:
  explicit FunctionVisibility(F f) : f_(std::move(f)) {}

  bool intervals(const kernels::Region& region, std::int64_t* first,
                 std::int64_t* last) const override {
    std::fill_n(first, region.rows, region.col);
    std::fill_n(last, region.rows, region.col + region.cols);
    return false;
  }
  kernels::Cover cover(const kernels::Region&) const override { return kernels::Cover::some; }
  void fill(const kernels::Region& region, std::uint8_t* visible,
            std::int64_t stride) const override {
    kernels::run_inline([&] {
      kernels::Held<F> f = f_;
      const auto b = static_cast<int>(region.batch), h = static_cast<int>(region.head);
      const auto row = static_cast<int>(region.row), rows = static_cast<int>(region.rows);
      for (std::int64_t c = 0; c < region.cols; ++c) {
        const auto j = static_cast<int>(region.col + c);
        std::uint8_t* const to = visible + c * stride;
        for (int r = 0; r < rows; ++r) to[r] = f(b, h, row + r, j) ? 1 : 0;
      }
    });
  }

 private:
  F f_;
};

template <typename F>
class FunctionMask : public MaskImpl {
 public:
  explicit FunctionMask(F f) : f_(std::move(f)) {}
  std::string name() const override { return "mask_fn"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    kernels::check_int_sizes("mask_fn", shape);
    return std::make_unique<FunctionVisibility<F>>(f_);
  }

 private:
  F f_;
};

}  // namespace detail

/// Query i attends to key j in head h of sequence b where f(b, h, i, j), all int, is true. f is
/// called from several threads, for every head, and must not throw. It is called for all pairs that
/// masks combined with it by & leave visible.
template <typename F>
Mask mask_fn(F f) {
  return make_mask<detail::FunctionMask<F>>(std::move(f));
}

}  // namespace heed

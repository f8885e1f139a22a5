#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/likeliest.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/base/arena.h"
#include "heed/kernels/likeliest-inl.h"
#include "heed/kernels/likeliest.h"
#include "heed/kernels/reference/likeliest.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// `entries` has room for k.
void likeliest_row(const LikeliestCall<float>& c, std::int64_t row, void* entries) {
  const float* const x = c.logits + row * c.rows.width;
  Best best(static_cast<Entry*>(entries), c.k, c.banned + c.banned_starts[row],
            c.banned + c.banned_starts[row + 1]);
  const ExpSum sum =
      exp_sum(c.rows.width, x, [&](std::int64_t at, std::int64_t m, float top) HWY_ATTR {
        if (c.k > 0 && top > best.bar()) {
          offer_block(m, x + at, static_cast<std::int32_t>(at), best);
        }
      });
  c.normalisers[row] = normaliser_of(sum);
  std::int32_t* const tokens = c.tokens + row * c.k;
  std::fill_n(tokens, c.k, kNoToken);
  for (std::size_t i = 0; const Entry& entry : best.sorted()) tokens[i++] = entry.token;
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(likeliest_row);

constexpr std::int64_t kCost = 8;  // operations per element, roughly

}  // namespace

void likeliest(const LikeliestCall<float>& call) {
  const auto row = HEED_DISPATCH(likeliest_row);
  for_each_rows(call.rows, 1, kCost, [&](std::int64_t r, std::int64_t /*count*/) {
    const Scratch<double> entries(std::max<std::int64_t>(1, call.k));  // 8 bytes each, as an Entry
    row(call, r, entries.data());
  });
}
void likeliest(const LikeliestCall<double>& call) {
  for_each_rows(call.rows, 1, kCost,
                [&](std::int64_t r, std::int64_t /*count*/) { reference::likeliest_row(call, r); });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

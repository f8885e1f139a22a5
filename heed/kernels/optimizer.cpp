#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/optimizer.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/kernels/optimizer.h"
#include "heed/kernels/reference/optimizer.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

V all(double value) { return hn::Set(D(), static_cast<float>(value)); }

// Access to whole vectors and to the tail with the same interface, so that a rule is written only
// once.
struct Whole {
  V load(const float* p) const { return hn::LoadU(D(), p); }
  void store(V v, float* p) const { hn::StoreU(v, D(), p); }
};
struct Tail {
  std::size_t n;
  V load(const float* p) const { return LoadFirst(D(), p, n); }
  void store(V v, float* p) const { StoreFirst(v, D(), p, n); }
};

// Calls rule(access, i) for the vectors of [begin, end).
template <typename Rule>
void sweep(std::int64_t begin, std::int64_t end, const Rule& rule) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes) rule(Whole{}, i);
  if (i < end) rule(Tail{static_cast<std::size_t>(end - i)}, i);
}

void adam_piece(const AdamSlice<float>& s, const AdamRule& rule, std::int64_t begin,
                std::int64_t end) {
  const V scale = all(rule.gradient_scale), l2 = all(s.l2), keep = all(s.keep);
  const V beta1 = all(rule.beta1), rest1 = all(1.0 - rule.beta1);
  const V beta2 = all(rule.beta2), rest2 = all(1.0 - rule.beta2);
  const V rate = all(s.rate), root = all(s.root), epsilon = all(rule.epsilon);
  sweep(begin, end, [&](auto at, std::int64_t i) HWY_ATTR {
    const V value = at.load(s.value + i);
    const V g = hn::MulAdd(scale, at.load(s.gradient + i), hn::Mul(l2, value));
    const V mean = hn::MulAdd(beta1, at.load(s.mean + i), hn::Mul(rest1, g));
    const V square = hn::MulAdd(beta2, at.load(s.square + i), hn::Mul(hn::Mul(rest2, g), g));
    const V size = hn::MulAdd(root, hn::Sqrt(square), epsilon);
    at.store(mean, s.mean + i);
    at.store(square, s.square + i);
    at.store(hn::NegMulAdd(rate, hn::Div(mean, size), hn::Mul(keep, value)), s.value + i);
  });
}

void sgd_piece(const SgdSlice<float>& s, const SgdRule& rule, std::int64_t begin,
               std::int64_t end) {
  const V scale = all(rule.gradient_scale), l2 = all(s.l2);
  const V rate = all(rule.rate), momentum = all(rule.momentum);
  if (s.buffer == nullptr) {
    sweep(begin, end, [&](auto at, std::int64_t i) HWY_ATTR {
      const V value = at.load(s.value + i);
      const V g = hn::MulAdd(scale, at.load(s.gradient + i), hn::Mul(l2, value));
      at.store(hn::NegMulAdd(rate, g, value), s.value + i);
    });
    return;
  }
  sweep(begin, end, [&](auto at, std::int64_t i) HWY_ATTR {
    const V value = at.load(s.value + i);
    const V g = hn::MulAdd(scale, at.load(s.gradient + i), hn::Mul(l2, value));
    const V buffer = hn::MulAdd(momentum, at.load(s.buffer + i), g);
    const V step = rule.nesterov ? hn::MulAdd(momentum, buffer, g) : buffer;
    at.store(buffer, s.buffer + i);
    at.store(hn::NegMulAdd(rate, step, value), s.value + i);
  });
}

void ema_piece(const EmaSlice<float>& s, double decay, std::int64_t begin, std::int64_t end) {
  const V rest = all(1.0 - decay);
  sweep(begin, end, [&](auto at, std::int64_t i) HWY_ATTR {
    const V average = at.load(s.average + i);
    at.store(hn::MulAdd(rest, hn::Sub(at.load(s.value + i), average), average), s.average + i);
  });
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(adam_piece);
HWY_EXPORT(sgd_piece);
HWY_EXPORT(ema_piece);

// Elements of a cell: four arrays of floats take half of a common L2 cache.
constexpr std::int64_t kCell = 1 << 14;
constexpr std::int64_t kCost = 16;  // bytes read per element

// Treats the slices as one long array, splits it into cells and calls piece(slice, begin, end) for
// the part of each slice in a cell.
template <typename Slice, typename Piece>
void for_each_piece(std::span<const Slice> slices, const Piece& piece) {
  const auto count = static_cast<std::int64_t>(slices.size());
  const Scratch<std::int64_t> ends(count);
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    ends[k] = total += slices[static_cast<std::size_t>(k)].n;
  }
  parallel_for((total + kCell - 1) / kCell, kCell * kCost, [&](std::int64_t cell) {
    std::int64_t at = cell * kCell;
    const std::int64_t stop = std::min(total, at + kCell);
    std::int64_t k = std::upper_bound(ends.data(), ends.data() + count, at) - ends.data();
    for (; at < stop; ++k) {
      const Slice& slice = slices[static_cast<std::size_t>(k)];
      const std::int64_t start = ends[k] - slice.n;
      const std::int64_t end = std::min(slice.n, stop - start);
      piece(slice, at - start, end);
      at = start + end;
    }
  });
}

}  // namespace

void adam(std::span<const AdamSlice<float>> slices, const AdamRule& rule) {
  const auto run = HEED_DISPATCH(adam_piece);
  for_each_piece(slices, [&](const AdamSlice<float>& slice, std::int64_t begin, std::int64_t end) {
    run(slice, rule, begin, end);
  });
}

void adam(std::span<const AdamSlice<double>> slices, const AdamRule& rule) {
  for_each_piece(slices, [&](const AdamSlice<double>& slice, std::int64_t begin, std::int64_t end) {
    reference::adam(slice, rule, begin, end);
  });
}

void sgd(std::span<const SgdSlice<float>> slices, const SgdRule& rule) {
  const auto run = HEED_DISPATCH(sgd_piece);
  for_each_piece(slices, [&](const SgdSlice<float>& slice, std::int64_t begin, std::int64_t end) {
    run(slice, rule, begin, end);
  });
}

void sgd(std::span<const SgdSlice<double>> slices, const SgdRule& rule) {
  for_each_piece(slices, [&](const SgdSlice<double>& slice, std::int64_t begin, std::int64_t end) {
    reference::sgd(slice, rule, begin, end);
  });
}

void ema(std::span<const EmaSlice<float>> slices, double decay) {
  const auto run = HEED_DISPATCH(ema_piece);
  for_each_piece(slices, [&](const EmaSlice<float>& slice, std::int64_t begin, std::int64_t end) {
    run(slice, decay, begin, end);
  });
}

void ema(std::span<const EmaSlice<double>> slices, double decay) {
  for_each_piece(slices, [&](const EmaSlice<double>& slice, std::int64_t begin, std::int64_t end) {
    reference::ema(slice, decay, begin, end);
  });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

#include "heed/attention/pairs.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// Keys at a time: the identity matrix that reads their scores out costs this many products per
// pair.
constexpr std::int64_t kStrip = 128;

Tensor identity(std::int64_t n, DType dtype) {
  const Tensor places = arange(n);                                               // [n]
  return where(equal(unsqueeze(places, 1), places), 1.0, zeros({n, n}, dtype));  // [n, n]
}

// Attention with the identity as values and scores as weights returns the scores.
Tensor strip_scores(const Tensor& q, const Tensor& k, const Score& score, const Tensor& visible) {
  const std::int64_t B = k.size(0), G = k.size(1), n = k.size(2);
  AttentionSpec spec{.score = score, .normaliser = no_normaliser()};
  if (visible.defined()) spec.mask = boolean_mask(visible);
  return attention(q, k, expand(identity(n, k.dtype()), {B, G, n, n}), spec);  // [B, H, Tq, n]
}

}  // namespace

Tensor dense_mask(const Mask& mask, const Shape& pairs) {
  HEED_ASSERT(pairs.rank() == 4);
  const std::int64_t B = pairs[0], H = pairs[1], Tq = pairs[2], Tk = pairs[3];
  const kernels::AttentionShape shape{.B = B, .H = H, .G = H, .Tq = Tq, .Tk = Tk, .D = 1, .Dv = 1};
  const auto visibility = mask.bind(shape);
  if (visibility == nullptr) return {};
  Tensor visible = empty({B, H, Tk, Tq}, DType::boolean);  // keys outermost, as masks fill it
  if (visible.numel() == 0) return view::transpose(visible, 2, 3);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(visible.mutable_data<bool>());
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t h = 0; h < H; ++h) {
      visibility->fill({b, h, 0, Tq, 0, Tk}, bytes + (b * H + h) * Tk * Tq, Tq);
    }
  }
  return contiguous_copy(view::transpose(visible, 2, 3));  // [B, H, Tq, Tk]
}

Tensor pair_scores(const Tensor& q, const Tensor& k, const Score& score, const Tensor& visible) {
  const std::int64_t Tk = k.size(2);
  if (Tk == 0) return zeros({q.size(0), q.size(1), q.size(2), 0}, q.dtype());
  std::vector<Tensor> strips;
  for (std::int64_t first = 0; first < Tk; first += kStrip) {
    const std::int64_t end = std::min(first + kStrip, Tk);
    const Tensor part = visible.defined() ? view::slice(visible, 3, first, end) : Tensor();
    strips.push_back(strip_scores(q, slice(k, 2, first, end), score, part));
  }
  const Tensor scores = strips.size() == 1 ? strips[0] : concat(strips, 3);  // [B, H, Tq, Tk]
  return visible.defined() ? where(visible, scores, -std::numeric_limits<double>::infinity())
                           : scores;
}

}  // namespace heed

#include "heed/attention/paged_cache.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::kPagePositions;

// Pages that are allocated together.
constexpr std::int64_t kSlabPages = 64;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// x itself if the features of a head are adjacent.
Tensor with_adjacent_features(const Tensor& x) {
  return x.strides()[3] == 1 || x.size(3) <= 1 ? x : contiguous_copy(x);
}

}  // namespace

PagedCache::PagedCache(const PagedCacheConfig& config)
    : shape_{config.heads, config.features,
             config.value_features == 0 ? config.features : config.value_features},
      sequences_(index(config.rows)) {
  HEED_CHECK(config.rows >= 0 && shape_.G > 0 && shape_.D > 0 && shape_.Dv > 0,
             "[paged_cache] rows {}, heads {}, features {}, value_features {}: rows must be 0 or "
             "more, the others positive",
             config.rows, config.heads, config.features, config.value_features);
}

float* PagedCache::page(std::int32_t number) const {
  const Tensor& slab = slabs_[index(number / kSlabPages)];
  return const_cast<float*>(slab.data<float>()) + number % kSlabPages * shape_.floats();
}

std::int32_t PagedCache::take_page() {
  if (unused_.empty()) {
    const auto first = static_cast<std::int32_t>(users_.size());
    slabs_.push_back(empty({kSlabPages, shape_.floats()}));
    users_.resize(users_.size() + index(kSlabPages), 0);
    for (std::int32_t i = kSlabPages; i-- > 0;) unused_.push_back(first + i);
  }
  const std::int32_t number = unused_.back();
  unused_.pop_back();
  users_[index(number)] = 1;
  return number;
}

void PagedCache::give_back(const Sequence& sequence) {
  for (const std::int32_t number : sequence.pages) {
    if (--users_[index(number)] == 0) unused_.push_back(number);
  }
}

// The page of the next position of a sequence, which no other sequence uses.
float* PagedCache::page_for_next(Sequence& sequence) {
  if (sequence.length % kPagePositions == 0) {
    sequence.pages.push_back(take_page());
  } else if (std::int32_t& last = sequence.pages.back(); users_[index(last)] > 1) {
    const std::int32_t copy = take_page();
    kernels::copy_positions(shape_, sequence.length % kPagePositions, page(last), page(copy));
    --users_[index(last)];
    last = copy;
  }
  return page(sequence.pages.back());
}

void PagedCache::append(const Tensor& k_any, const Tensor& v_any, const Tensor& lengths) {
  const std::int64_t T = k_any.rank() == 4 ? k_any.size(2) : 0;
  HEED_CHECK(k_any.shape() == (Shape{rows(), shape_.G, T, shape_.D}) &&
                 v_any.shape() == (Shape{rows(), shape_.G, T, shape_.Dv}) &&
                 k_any.dtype() == DType::f32 && v_any.dtype() == DType::f32,
             "[paged_cache] k {} and v {}: this cache takes [{}, {}, T, {}] and [{}, {}, T, {}] of "
             "f32",
             to_string(k_any.shape()), to_string(v_any.shape()), rows(), shape_.G, shape_.D, rows(),
             shape_.G, shape_.Dv);
  const Tensor k = with_adjacent_features(k_any), v = with_adjacent_features(v_any);
  const Strides &ks = k.strides(), &vs = v.strides();
  for (std::int64_t row = 0; row < rows(); ++row) {
    Sequence& sequence = sequences_[index(row)];
    const std::int64_t count = lengths.defined() ? lengths.values<std::int64_t>()[index(row)] : T;
    HEED_ASSERT(count >= 0 && count <= T);
    for (std::int64_t t = 0; t < count; ++t) {
      float* const to = page_for_next(sequence);
      kernels::write_position(shape_, sequence.length % kPagePositions,
                              k.data<float>() + row * ks[0] + t * ks[2], ks[1],
                              v.data<float>() + row * vs[0] + t * vs[2], vs[1], to);
      ++sequence.length;
    }
  }
}

void PagedCache::reorder(std::span<const std::int64_t> from) {
  std::vector<Sequence> next;
  next.reserve(from.size());
  for (const std::int64_t row : from) {
    HEED_CHECK(row >= 0 && row < rows(),
               "[paged_cache] a sequence is to become number {}: there are {}, numbered from 0",
               row, rows());
    next.push_back(sequences_[index(row)]);
    for (const std::int32_t number : next.back().pages) ++users_[index(number)];
  }
  for (const Sequence& sequence : sequences_) give_back(sequence);
  sequences_ = std::move(next);
}

std::int64_t PagedCache::longest() const {
  std::int64_t most = 0;
  for (const Sequence& sequence : sequences_) most = std::max(most, sequence.length);
  return most;
}

std::int64_t PagedCache::bytes() const {
  return static_cast<std::int64_t>(users_.size() * sizeof(float)) * shape_.floats();
}

Tensor PagedCache::attend(const Tensor& q_any, const PagedAttention& how) const {
  const std::int64_t H = q_any.rank() == 4 ? q_any.size(1) : 0;
  HEED_CHECK(H > 0 && H % shape_.G == 0 && q_any.shape() == (Shape{rows(), H, 1, shape_.D}) &&
                 q_any.dtype() == DType::f32,
             "[paged_cache] q {}: it must be [{}, H, 1, {}] of f32, H a multiple of {}",
             to_string(q_any.shape()), rows(), shape_.D, shape_.G);
  const bool adjacent = q_any.strides()[3] == 1 && (H == 1 || q_any.strides()[1] == shape_.D);
  const Tensor q = adjacent ? q_any : contiguous_copy(q_any);
  std::vector<const float*> pages;
  for (const Sequence& sequence : sequences_) {
    for (const std::int32_t number : sequence.pages) pages.push_back(page(number));
  }
  std::vector<kernels::PagedSequence> sequences;
  for (std::size_t first = 0; const Sequence& sequence : sequences_) {
    sequences.push_back({pages.data() + first, sequence.length});
    first += sequence.pages.size();
  }
  Tensor output = empty({rows(), 1, H * shape_.Dv});
  kernels::PagedCall call{
      .shape = shape_,
      .rows = rows(),
      .H = H,
      .sequences = sequences.data(),
      .q = q.data<float>(),
      .q_stride = q.strides()[0],
      .output = output.mutable_data<float>(),
      .scale = static_cast<float>(how.scale > 0.0 ? how.scale : 1.0 / std::sqrt(shape_.D)),
      .soft_cap = static_cast<float>(how.soft_cap)};
  if (how.weights != nullptr) {
    call.weights_stride = std::max(how.keys, longest());
    *how.weights = empty({rows(), H, 1, call.weights_stride});
    call.weights = how.weights->mutable_data<float>();
  }
  kernels::attention_paged(call);
  return output;
}

}  // namespace heed

#include "heed/attention/paged_cache.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::kPagePositions;

// Pages that are allocated together: as many as there are, within these limits.
constexpr std::int64_t kLeastPages = 4;
constexpr std::int64_t kMostPages = 256;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// x itself if the features of a head are adjacent.
Tensor with_adjacent_features(const Tensor& x) {
  return x.strides()[3] == 1 || x.size(3) <= 1 ? x : contiguous_copy(x);
}

}  // namespace

PagedCache::PagedCache(const PagedCacheConfig& config)
    : shape_{config.heads, config.features,
             config.value_features == 0 ? config.features : config.value_features, config.form},
      window_(config.window),
      sequences_(index(config.rows)) {
  HEED_CHECK(config.rows >= 0 && shape_.G > 0 && shape_.D > 0 && shape_.Dv > 0 && window_ >= 0,
             "[paged_cache] rows {}, heads {}, features {}, value_features {}, window {}: rows and "
             "window must be 0 or more, the others positive",
             config.rows, config.heads, config.features, config.value_features, config.window);
}

// ---- pages --------------------------------------------------------------------------------------

std::int32_t PagedCache::take_page() {
  if (unused_.empty()) {
    const std::int64_t before = std::ssize(pages_);
    const std::int64_t added = std::clamp(before, kLeastPages, kMostPages);
    slabs_.push_back(empty({added, shape_.bytes()}, DType::u8));
    auto* const memory = reinterpret_cast<std::byte*>(slabs_.back().mutable_data<std::uint8_t>());
    for (std::int64_t i = 0; i < added; ++i) pages_.push_back(memory + i * shape_.bytes());
    for (std::int64_t i = added; i-- > 0;) unused_.push_back(static_cast<std::int32_t>(before + i));
    users_.resize(pages_.size(), 0);
  }
  const std::int32_t number = unused_.back();
  unused_.pop_back();
  users_[index(number)] = 1;
  return number;
}

void PagedCache::give_back(std::int32_t number) {
  if (number != kDropped && --users_[index(number)] == 0) unused_.push_back(number);
}

// Drops the pages that the next query does not attend to.
void PagedCache::drop_before_window(Sequence& sequence) {
  if (window_ == 0) return;
  for (; (sequence.dropped + 1) * kPagePositions <= sequence.length + 1 - window_;
       ++sequence.dropped) {
    give_back(std::exchange(sequence.pages[index(sequence.dropped)], kDropped));
  }
}

// The page of the next position of a sequence, which no other sequence uses.
std::byte* PagedCache::page_for_next(Sequence& sequence) {
  if (sequence.length % kPagePositions == 0) {
    sequence.pages.push_back(take_page());
  } else if (std::int32_t& last = sequence.pages.back(); users_[index(last)] > 1) {
    const std::int32_t copy = take_page();
    kernels::copy_positions(shape_, sequence.length % kPagePositions, page(last), page(copy));
    give_back(last);
    last = copy;
  }
  return page(sequence.pages.back());
}

// ---- sequences ----------------------------------------------------------------------------------

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
    drop_before_window(sequence);
    const std::int64_t count = lengths.defined() ? lengths.values<std::int64_t>()[index(row)] : T;
    HEED_ASSERT(count >= 0 && count <= T);
    for (std::int64_t t = 0; t < count;) {
      const std::int64_t slot = sequence.length % kPagePositions;
      const std::int64_t part = std::min(count - t, kPagePositions - slot);
      kernels::write_positions(shape_, slot, part,
                               {.k = k.data<float>() + row * ks[0] + t * ks[2],
                                .v = v.data<float>() + row * vs[0] + t * vs[2],
                                .k_head = ks[1],
                                .k_position = ks[2],
                                .v_head = vs[1],
                                .v_position = vs[2]},
                               page_for_next(sequence));
      sequence.length += part;
      t += part;
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
    for (const std::int32_t number : next.back().pages) {
      if (number != kDropped) ++users_[index(number)];
    }
  }
  for (const Sequence& sequence : sequences_) {
    for (const std::int32_t number : sequence.pages) give_back(number);
  }
  sequences_ = std::move(next);
}

// Sequences that share pages in the other cache share them here too.
void PagedCache::join(const PagedCache& other) {
  HEED_CHECK(shape_.G == other.shape_.G && shape_.D == other.shape_.D &&
                 shape_.Dv == other.shape_.Dv && shape_.form == other.shape_.form &&
                 window_ == other.window_,
             "[paged_cache] a cache of {} heads, {} and {} features joins one of {}, {} and {}: "
             "they must be caches of one layer",
             other.shape_.G, other.shape_.D, other.shape_.Dv, shape_.G, shape_.D, shape_.Dv);
  constexpr std::int32_t kNone = -1;
  std::vector<std::int32_t> copies(other.pages_.size(), kNone);
  for (const Sequence& theirs : other.sequences_) {
    Sequence own{.pages = {}, .length = theirs.length, .dropped = theirs.dropped};
    for (const std::int32_t number : theirs.pages) {
      if (number == kDropped) {
        own.pages.push_back(kDropped);
        continue;
      }
      std::int32_t& copy = copies[index(number)];
      if (copy == kNone) {
        copy = take_page();
        std::copy_n(other.page(number), shape_.bytes(), page(copy));
      } else {
        ++users_[index(copy)];
      }
      own.pages.push_back(copy);
    }
    sequences_.push_back(std::move(own));
  }
}

std::int64_t PagedCache::longest() const {
  std::int64_t most = 0;
  for (const Sequence& sequence : sequences_) most = std::max(most, sequence.length);
  return most;
}

std::int64_t PagedCache::first_kept() const {
  std::int64_t least = longest();
  for (const Sequence& sequence : sequences_) {
    least = std::min(least, sequence.dropped * kPagePositions);
  }
  return least;
}

std::int64_t PagedCache::bytes() const { return std::ssize(pages_) * shape_.bytes(); }

// ---- attention ----------------------------------------------------------------------------------

Tensor PagedCache::attend(const Tensor& q_any, const PagedAttention& how) const {
  const bool fits = q_any.rank() == 4 && q_any.size(1) > 0 && q_any.size(1) % shape_.G == 0;
  const std::int64_t H = fits ? q_any.size(1) : 0, T = fits ? q_any.size(2) : 0;
  HEED_CHECK(
      fits && q_any.shape() == (Shape{rows(), H, T, shape_.D}) && q_any.dtype() == DType::f32,
      "[paged_cache] q {}: it must be [{}, H, T, {}] of f32, H a multiple of {}",
      to_string(q_any.shape()), rows(), shape_.D, shape_.G);
  HEED_CHECK(how.causal || (window_ == 0 && !how.bias.defined()),
             "[paged_cache] windows and biases are for causal queries");
  const Tensor q = with_adjacent_features(q_any);
  std::int64_t count = 0;
  for (const Sequence& sequence : sequences_) {
    HEED_CHECK(!how.causal || sequence.length >= T,
               "[paged_cache] {} queries of a sequence of {} positions: append their keys first", T,
               sequence.length);
    count += std::ssize(sequence.pages);
  }
  // Every step of every layer comes here: no memory of the system is asked for.
  const Scratch<const std::byte*> pages(count);
  const Scratch<kernels::PagedSequence> sequences(rows());
  const std::byte** next = pages.data();
  for (std::int64_t row = 0; row < rows(); ++row) {
    const Sequence& sequence = sequences_[index(row)];
    sequences[row] = {next, sequence.length};
    for (const std::int32_t number : sequence.pages) *next++ = page(number);
  }
  Tensor output = empty({rows(), T, H * shape_.Dv});
  kernels::PagedCall call{
      .shape = shape_,
      .rows = rows(),
      .H = H,
      .T = T,
      .sequences = sequences.data(),
      .q = q.data<float>(),
      .q_row = q.strides()[0],
      .q_head = q.strides()[1],
      .q_position = q.strides()[2],
      .output = output.mutable_data<float>(),
      .scale = static_cast<float>(how.scale > 0.0 ? how.scale : 1.0 / std::sqrt(shape_.D)),
      .soft_cap = static_cast<float>(how.soft_cap),
      .causal = how.causal,
      .window = window_};
  if (how.bias.defined()) {
    const std::int64_t distances = how.bias.size(-1);
    HEED_CHECK(how.bias.rank() == 2 && (how.bias.size(0) == H || how.bias.size(0) == 1) &&
                   how.bias.contiguous() && distances >= longest(),
               "[paged_cache] bias {}: it must be [{} or 1, at least {}], contiguous",
               to_string(how.bias.shape()), H, longest());
    call.bias = {how.bias.data<float>(), distances, how.bias.size(0) == 1 ? 0 : distances};
  }
  if (how.weights != nullptr) {
    call.weights_stride = std::max(how.keys, longest());
    *how.weights = empty({rows(), H, T, call.weights_stride});
    call.weights = how.weights->mutable_data<float>();
  }
  kernels::attention_paged(call);
  return output;
}

}  // namespace heed

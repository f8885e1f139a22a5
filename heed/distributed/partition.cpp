#include "heed/distributed/partition.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

Partition::Partition(std::span<const std::int64_t> sizes, int ranks, std::int64_t bucket)
    : ranks_(static_cast<std::size_t>(ranks)), starts_{0}, bucket_of_(sizes.size()) {
  HEED_ASSERT(ranks > 0);
  for (const std::int64_t size : sizes) starts_.push_back(starts_.back() + size);
  // From the end: a backward pass completes the gradients of the last layers first.
  const std::int64_t least = bucket > 0 ? bucket : std::max(kBucket, ranks * kMessage);
  buckets_.push_back(tensors());
  for (std::size_t t = tensors(); t-- > 0;) {
    const bool is_full = starts_[buckets_.back()] - starts_[t] >= least;
    if (t == 0 || is_full) buckets_.push_back(t);
  }
  std::ranges::reverse(buckets_);
  for (std::size_t b = 0; b < buckets(); ++b) {
    for (std::size_t t = buckets_[b]; t < buckets_[b + 1]; ++t) bucket_of_[t] = b;
    add_bounds(b);
  }
}

// The segment of rank r ends at the first piece that begins at or after its share of the bucket.
void Partition::add_bounds(std::size_t bucket) {
  const ElementRange whole = range(bucket);
  const auto ranks = static_cast<std::int64_t>(ranks_);
  const auto share = [&](std::int64_t r) {
    return whole.begin + whole.size() / ranks * r + whole.size() % ranks * r / ranks;
  };
  std::int64_t next = 1;
  bounds_.push_back(whole.begin);
  for (std::size_t t = buckets_[bucket]; t < buckets_[bucket + 1]; ++t) {
    for (std::int64_t piece = starts_[t]; piece < starts_[t + 1]; piece += kPiece) {
      for (; next < ranks && piece >= share(next); ++next) bounds_.push_back(piece);
    }
  }
  for (; next < ranks; ++next) bounds_.push_back(whole.end);
}

ElementRange Partition::part(int rank, std::size_t tensor) const {
  const ElementRange own = segment(bucket_of(tensor), rank);
  const std::int64_t begin = starts_[tensor], end = starts_[tensor + 1];
  const ElementRange inside{std::clamp(own.begin, begin, end), std::clamp(own.end, begin, end)};
  return {inside.begin - begin, inside.end - begin};
}

ElementRange Partition::owners(std::size_t tensor) const {
  const auto first = bounds_.begin() + static_cast<std::ptrdiff_t>(bucket_of(tensor) * ranks_);
  const auto last = first + static_cast<std::ptrdiff_t>(ranks_);
  const std::int64_t begin = std::upper_bound(first, last, starts_[tensor]) - first - 1;
  const std::int64_t end = std::lower_bound(first, last, starts_[tensor + 1]) - first;
  return {begin, std::max(begin, end)};
}

std::vector<ElementRange> Partition::pieces(const ElementRange& part) {
  std::vector<ElementRange> all;
  for (std::int64_t at = part.begin; at < part.end; at += kPiece) {
    all.push_back({at, std::min(at + kPiece, part.end)});
  }
  return all;
}

}  // namespace heed

#include "heed/distributed/partition.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

Partition::Partition(std::span<const std::int64_t> sizes, int ranks) : starts_{0}, bounds_{0} {
  HEED_ASSERT(ranks > 0);
  for (const std::int64_t size : sizes) starts_.push_back(starts_.back() + size);
  // The segment of rank r ends at the first piece that begins at or after its share.
  std::int64_t next = 1;
  const auto share = [&](std::int64_t r) {
    return total() / ranks * r + total() % ranks * r / ranks;
  };
  for (std::size_t t = 0; t + 1 < starts_.size(); ++t) {
    for (std::int64_t piece = starts_[t]; piece < starts_[t + 1]; piece += kPiece) {
      for (; next < ranks && piece >= share(next); ++next) bounds_.push_back(piece);
    }
  }
  while (std::ssize(bounds_) <= ranks) bounds_.push_back(total());
}

ElementRange Partition::part(int rank, std::size_t tensor) const {
  const ElementRange own = segment(rank);
  const std::int64_t begin = starts_[tensor], end = starts_[tensor + 1];
  const ElementRange inside{std::clamp(own.begin, begin, end), std::clamp(own.end, begin, end)};
  return {inside.begin - begin, inside.end - begin};
}

std::vector<ElementRange> Partition::pieces(const ElementRange& part) {
  std::vector<ElementRange> all;
  for (std::int64_t at = part.begin; at < part.end; at += kPiece) {
    all.push_back({at, std::min(at + kPiece, part.end)});
  }
  return all;
}

}  // namespace heed

// The positions of queries among the keys of a call, for masks that depend on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/program.h"

namespace heed {

/// The positions of queries; each sequence of the batch has its own corner.
class QueryPositions {
 public:
  QueryPositions(Corner corner, const kernels::AttentionShape& shape) {
    shifts_.reserve(static_cast<std::size_t>(shape.B));
    for (std::int64_t b = 0; b < shape.B; ++b) {
      shifts_.push_back(corner.shift(shape.queries(b), shape.keys(b)));
    }
  }
  /// The position of one row.
  std::int64_t operator()(std::int64_t batch, std::int64_t row) const {
    return row + shifts_[static_cast<std::size_t>(batch)];
  }

 private:
  ArenaVector<std::int64_t> shifts_;
};

/// A mask of options and query positions: a call gets a Bound(options, positions), which is a
/// kernels::Visibility.
template <typename Bound, typename Options>
class PositionMask : public MaskImpl {
 public:
  PositionMask(const char* name, Options options, Corner corner)
      : name_(name), options_(std::move(options)), corner_(corner) {}
  std::string name() const override { return name_; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    return std::make_unique<Bound>(options_, QueryPositions(corner_, shape));
  }

 private:
  const char* name_;
  Options options_;
  Corner corner_;
};

/// Makes such a mask.
template <typename Bound, typename Options>
Mask position_mask(const char* name, Options options, Corner corner) {
  return make_mask<PositionMask<Bound, Options>>(name, std::move(options), corner);
}

/// A limit for sizes and distances that users give: larger than every position, and products of two
/// do not overflow.
inline constexpr std::int64_t kFarPosition = std::int64_t{1} << 30;

}  // namespace heed

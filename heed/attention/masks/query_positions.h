// Where the queries of a call stand among its keys, for masks that depend on it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/attention/corner.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/program.h"

namespace heed {

/// The positions of queries, by each sequence's own corner.
class QueryPositions {
 public:
  QueryPositions(Corner corner, const kernels::AttentionShape& shape) {
    shifts_.reserve(static_cast<std::size_t>(shape.B));
    for (std::int64_t b = 0; b < shape.B; ++b) {
      shifts_.push_back(corner.shift(shape.queries(b), shape.keys(b)));
    }
  }
  /// Of one row.
  std::int64_t operator()(std::int64_t batch, std::int64_t row) const {
    return row + shifts_[static_cast<std::size_t>(batch)];
  }

 private:
  ArenaVector<std::int64_t> shifts_;
};

}  // namespace heed

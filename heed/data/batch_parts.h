// Parts of batches, for gradients that are computed part by part: a batch is cut into parts by
// rows, and a stream returns some of them.
#pragma once

#include <cstdint>

namespace heed {

/// Rows [begin, end) of a batch.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
};

/// The parts that a stream returns. The batches come in groups; of each group, the stream returns
/// part `begin` of every batch, then the next part of every batch, and so on.
struct BatchParts {
  std::int64_t count = 1;  ///< Number of parts of a batch; some are empty if it has fewer rows.
  std::int64_t begin = 0;  ///< The parts [begin, end) are returned.
  std::int64_t end = 1;
  std::int64_t batches = 1;  ///< Number of batches of a group.

  /// The rows of a part of a batch.
  RowRange rows(std::int64_t part, std::int64_t all) const {
    return {all * part / count, all * (part + 1) / count};
  }
};

/// The position inside a group.
class PartWalk {
 public:
  explicit PartWalk(const BatchParts& parts = {}) : parts_(parts), part_(parts.begin) {}

  const BatchParts& parts() const { return parts_; }
  std::int64_t part() const { return part_; }
  /// The number of the batch in its group.
  std::int64_t batch() const { return batch_; }
  /// Goes on to the next part; true if the group is complete.
  bool advance() {
    if (++batch_ < parts_.batches) return false;
    batch_ = 0;
    if (++part_ < parts_.end) return false;
    part_ = parts_.begin;
    return true;
  }
  /// Goes back to the beginning of the group.
  void restart() { *this = PartWalk(parts_); }

 private:
  BatchParts parts_;
  std::int64_t part_;
  std::int64_t batch_ = 0;
};

}  // namespace heed

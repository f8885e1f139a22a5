// A list of tensors as one long array, and which rank owns which part of it. The array is cut into
// pieces that depend only on the tensors; a rank owns a range of whole pieces. What is computed
// piece by piece, such as a norm, has therefore the same bits for any number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed {

/// Elements [begin, end) of an array.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

class Partition {
 public:
  /// Elements of a piece; the last one of a tensor may have fewer.
  static constexpr std::int64_t kPiece = std::int64_t{1} << 16;

  /// `sizes` are the numbers of elements of the tensors.
  Partition(std::span<const std::int64_t> sizes, int ranks);

  std::int64_t total() const { return starts_.back(); }
  std::size_t tensors() const { return starts_.size() - 1; }
  /// The first element of a tensor in the long array.
  std::int64_t start(std::size_t tensor) const { return starts_[tensor]; }
  /// The elements of the long array that a rank owns.
  ElementRange segment(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {bounds_[r], bounds_[r + 1]};
  }
  /// The elements of a tensor that a rank owns, counted from the tensor's first.
  ElementRange part(int rank, std::size_t tensor) const;
  /// The pieces of a part of a tensor.
  static std::vector<ElementRange> pieces(const ElementRange& part);

 private:
  std::vector<std::int64_t> starts_;  // of the tensors, and the end
  std::vector<std::int64_t> bounds_;  // of the ranks' segments
};

}  // namespace heed

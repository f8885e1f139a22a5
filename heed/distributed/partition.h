// A list of tensors as one long array, and which rank owns which part of it. The array is cut into
// buckets of whole tensors, which are sent one by one while others are still computed. Each rank
// owns a range of every bucket, so that a bucket that is sent keeps all links busy. Ranges are
// whole pieces, which depend only on the tensors: what is computed piece by piece, such as a norm,
// has the same bits for any number of ranks.
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
  static constexpr std::int64_t kPiece = std::int64_t{1} << 13;
  /// Elements of a bucket that is worth a message to each of a few ranks.
  static constexpr std::int64_t kBucket = std::int64_t{1} << 20;
  /// Elements that are worth a message: 128 KB. A message of a single piece takes 1.5 times as long
  /// for each of its bytes (simulated, 128 ranks, 10 Gb/s).
  static constexpr std::int64_t kMessage = std::int64_t{1} << 15;

  /// `sizes` are the numbers of elements of the tensors. Buckets have at least `bucket` elements,
  /// but for the first one; 0: kBucket, and at least kMessage for each rank.
  Partition(std::span<const std::int64_t> sizes, int ranks, std::int64_t bucket = 0);

  std::int64_t total() const { return starts_.back(); }
  std::size_t tensors() const { return starts_.size() - 1; }
  /// The first element of a tensor in the long array.
  std::int64_t start(std::size_t tensor) const { return starts_[tensor]; }

  std::size_t buckets() const { return buckets_.size() - 1; }
  /// The first tensor of a bucket; that of the bucket after the last is tensors().
  std::size_t first_tensor(std::size_t bucket) const { return buckets_[bucket]; }
  std::size_t bucket_of(std::size_t tensor) const { return bucket_of_[tensor]; }
  /// The elements of the long array that are in a bucket.
  ElementRange range(std::size_t bucket) const {
    return {starts_[buckets_[bucket]], starts_[buckets_[bucket + 1]]};
  }
  /// Those of them that a rank owns.
  ElementRange segment(std::size_t bucket, int rank) const {
    const std::size_t at = bucket * ranks_ + static_cast<std::size_t>(rank);
    const bool is_last = static_cast<std::size_t>(rank) + 1 == ranks_;
    return {bounds_[at], is_last ? range(bucket).end : bounds_[at + 1]};
  }
  /// The elements of a tensor that a rank owns, counted from the tensor's first.
  ElementRange part(int rank, std::size_t tensor) const;
  /// The ranks [begin, end) that own elements of a tensor; some of them may own none.
  ElementRange owners(std::size_t tensor) const;
  /// The pieces of a part of a tensor.
  static std::vector<ElementRange> pieces(const ElementRange& part);
  /// Their number.
  static std::size_t count_pieces(const ElementRange& part) {
    return static_cast<std::size_t>((part.size() + kPiece - 1) / kPiece);
  }

 private:
  void add_bounds(std::size_t bucket);

  std::size_t ranks_;
  std::vector<std::int64_t> starts_;    // of the tensors, and the end
  std::vector<std::size_t> buckets_;    // their first tensors, and the end
  std::vector<std::size_t> bucket_of_;  // of the tensors
  std::vector<std::int64_t> bounds_;    // where segments begin, by buckets and ranks
};

}  // namespace heed

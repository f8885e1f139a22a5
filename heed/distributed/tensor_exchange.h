// Sums of lists of tensors over all ranks, in the fixed tree of shard_tree.h. After sum(), a rank
// has the sum of the part that it owns (a reduce-scatter); share() gives everybody what the owners
// have made of their parts (an all-gather). A rank sends each element once in either, to or from
// its owner, which is the least that is possible if its shards are one node of the tree.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/distributed/communicator.h"
#include "heed/distributed/partition.h"
#include "heed/distributed/shard_tree.h"
#include "heed/distributed/wire.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// One tensor for each of a fixed list. An undefined one is absent: a + absent = a, to the bit.
using SumList = std::vector<Tensor>;

/// Adds each tensor of b to that of a, both as they are sent; a may then refer to tensors of b.
void add_lists(SumList& a, SumList b, Wire wire = Wire::f32);

class TensorExchange {
 public:
  /// Lists are like `like`: contiguous, and all f32 or all f64. `shards` is the number of leaves of
  /// the tree, at least that of ranks. `wire` is the form of sums; it needs f32.
  TensorExchange(Communicator& ranks, const SumList& like, std::int64_t shards,
                 Wire wire = Wire::f32);

  const Partition& partition() const { return partition_; }
  /// The nodes whose sums this rank gives to sum(), in order.
  const std::vector<ShardRange>& nodes() const { return nodes_[rank()]; }

  /// The sum over all ranks of the sums of their nodes. Only the part of each tensor that this rank
  /// owns is defined. The result is valid until the next call.
  SumList sum(std::vector<SumList> of_nodes);
  /// The square of the norm of the first `count` tensors of a sum, added piece by piece.
  double sum_of_squares(const SumList& sum, std::size_t count);
  /// Copies the owners' parts of all tensors to all ranks.
  void share(SumList& tensors);
  /// A whole tensor of the list on rank 0, given the parts that the ranks own as flat tensors;
  /// undefined on other ranks.
  Tensor gather(std::size_t tensor, const Tensor& part);

  /// Bytes sent to other ranks so far.
  std::int64_t bytes_sent() const { return bytes_sent_; }

 private:
  // The sum of a node over the segment of this rank: a flat tensor, and which tensors are present.
  struct SegmentSum {
    Tensor values;
    std::vector<char> present;
  };

  std::size_t rank() const { return static_cast<std::size_t>(ranks_.rank()); }
  std::vector<std::vector<SegmentSum>> exchange_segments(const std::vector<SumList>& of_nodes);
  void add_segments(SegmentSum& a, SegmentSum b) const;
  void pack(const SumList& tensors, int of_rank, Tensor& segment) const;
  void send(std::vector<Outgoing>& sent, int to, const Tensor& flat);
  Tensor empty_segment(int of_rank, DType dtype) const;

  Communicator& ranks_;
  std::vector<Shape> shapes_;
  DType dtype_;
  Partition partition_;
  std::int64_t shards_;
  Wire wire_;
  std::vector<std::vector<ShardRange>> nodes_;  // of all ranks
  Tensor flat_;                                 // the sum, as one long array
  std::int64_t bytes_sent_ = 0;
};

}  // namespace heed

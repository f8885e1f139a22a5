// Sums of lists of tensors over all ranks, in the fixed tree of shard_tree.h. After a sum, a rank
// has the part that it owns (a reduce-scatter); share() gives everybody what the owners have made
// of their parts (an all-gather). A rank sends each element once in either, to or from its owner,
// which is the least that is possible if its shards are one node of the tree.
//
// Tensors may be given one by one, as soon as each is computed. Those of a bucket (partition.h)
// travel together, while others are still computed:
//
//   exchange.put(12, sums_of_nodes);   // in any order; the last one of a bucket sends it
//   exchange.put_rest();               // all others are absent
//   const SumList sum = exchange.take_sum();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/distributed/communicator.h"
#include "heed/distributed/partition.h"
#include "heed/distributed/shard_tree.h"
#include "heed/distributed/wire.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// One tensor for each of a fixed list. An undefined one is absent: a + absent = a, to the bit.
using SumList = std::vector<Tensor>;

/// a + b, both as they are sent; either may be absent. May change a, and may refer to a or b.
Tensor add_sums(Tensor a, Tensor b, Wire wire = Wire::f32);
/// The same for each tensor of two lists; the result is in a.
void add_lists(SumList& a, SumList b, Wire wire = Wire::f32);

struct TensorExchangeConfig {
  std::int64_t shards = 1;  ///< Leaves of the tree; at least the number of ranks.
  Wire wire = Wire::f32;    ///< The form of sums; bf16 needs tensors of f32.
  std::int64_t bucket = 0;  ///< Elements that travel together, at least (partition.h).
};

class TensorExchange {
 public:
  /// Lists are like `like`: contiguous, and all f32 or all f64.
  TensorExchange(Communicator& ranks, const SumList& like, const TensorExchangeConfig& config);

  const Partition& partition() const { return partition_; }
  /// The nodes whose sums this rank gives, in order.
  const std::vector<ShardRange>& nodes() const { return nodes_[rank()]; }

  /// Gives the sums of a tensor over this rank's nodes, once for each sum. The memory may be reused
  /// afterwards.
  void put(std::size_t tensor, std::span<const Tensor> of_nodes);
  /// Says that the tensors that were not given are absent.
  void put_rest();
  /// After all tensors: the sum over all ranks. Only the part of each tensor that this rank owns is
  /// defined. The result is valid until the next sum.
  SumList take_sum();
  /// All of this at once.
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
  // The sum of a node over this rank's segment of a bucket, and which tensors of it are present.
  struct SegmentSum {
    Tensor values;
    std::vector<char> present;
  };
  // A bucket of the sum under way. A message has a segment for each node of its sender.
  struct Bucket {
    Tensor given;             // the messages to all ranks, as sent; that to this one is empty
    Tensor own;               // the nodes of this rank over its own segment
    Tensor received;          // the nodes of all ranks over this rank's segment, as sent
    std::size_t missing = 0;  // tensors that were not given yet
    std::unique_ptr<Transfer> transfer;
  };
  // A node, the rank that computes it, and its number among the nodes of that rank.
  struct RankNode {
    ShardRange node;
    std::size_t rank;
    std::int64_t index;

    std::int64_t begin() const { return node.begin; }
  };

  std::size_t rank() const { return static_cast<std::size_t>(ranks_.rank()); }
  DType wire_dtype() const { return wire_ == Wire::bf16 ? DType::bf16 : dtype_; }
  std::optional<std::size_t> number_of(const ShardRange& node) const;
  void begin();
  Tensor message_to(std::size_t bucket, int rank) const;
  Tensor message_from(std::size_t bucket, std::size_t first_node, std::size_t nodes) const;
  void give_part(int owner, std::size_t tensor, std::size_t node, const Tensor& sum);
  void start(std::size_t bucket);
  void add_up(std::size_t bucket, std::span<const char> present, std::vector<char>& in_sum);
  void add_segments(std::size_t bucket, SegmentSum& a, SegmentSum b) const;

  Communicator& ranks_;
  std::vector<Shape> shapes_;
  DType dtype_;
  Partition partition_;
  std::int64_t shards_;
  Wire wire_;
  std::vector<std::vector<ShardRange>> nodes_;  // of all ranks
  std::vector<RankNode> all_nodes_;             // the same as one list
  Tensor flat_;                                 // sums or parameters, as one long array
  std::vector<Bucket> under_way_;               // empty between sums
  std::vector<char> is_given_;                  // by tensor
  std::vector<char> present_;                   // by node of this rank and tensor
  SumList alone_;                               // the sum of a process on its own
  std::int64_t bytes_sent_ = 0;
};

}  // namespace heed

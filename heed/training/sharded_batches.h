// Gradients from shards of batches, computed by one process or many, with the same bits for any
// number of them. Each batch is cut into a fixed number of shards by rows. A shard is computed
// alone:
//
//   random numbers   are a function of seed, update and shard;
//   buffers          begin as they were before the update; afterwards they are the mean over
//   shards,
//                    so that a running average moves by the mean of the shards' statistics;
//   the baseline     of REINFORCE too.
//
// The gradients of shards are added in a fixed tree (distributed/shard_tree.h), within a rank and
// across ranks. During the last backward pass of a rank, they are sent as soon as they are final.
// All other numbers of a shard are sent to all ranks, which add them in order. So
// every rank decides from the same numbers.
#pragma once

#include <memory>
#include <unordered_map>

#include "heed/distributed/tensor_exchange.h"
#include "heed/training/gradient_source.h"

namespace heed {

struct ShardingConfig {
  std::int64_t shards = 8;
  std::int64_t accumulate = 1;  // batches per update
  Wire wire = Wire::f32;        // of gradients between ranks
  std::int64_t bucket = 0;      // elements that are sent together, at least; 0: see Partition
};

class ShardedBatches : public GradientSource {
 public:
  /// Job and communicator must outlive it. Makes the job return the shards of this rank.
  ShardedBatches(Job& job, Communicator& ranks, const ShardingConfig& config);

  /// The parts of the trained parameters that this rank steps, one for each.
  std::vector<ElementRange> parts() const;
  /// The optimiser that was made for these parts; it must outlive this object.
  void set_optimizer(Optimizer& optimizer) { optimizer_ = &optimizer; }

  std::optional<BatchSums> compute(std::int64_t update, Attempt attempt) override;
  double norm() override;
  void share() override;
  void drop() override { sum_.clear(); }

  /// On rank 0, the whole of a tensor of which each rank has its part of a parameter; otherwise
  /// undefined.
  Tensor gather(std::size_t parameter, const Tensor& part) {
    return exchange_->gather(parameter, part);
  }

 private:
  struct ShardSums;
  class TakenTensors;
  // Takes the gradient (or the buffer) number i of a shard; undefined if it has none.
  using Take = FunctionRef<void(std::size_t i, Tensor value)>;

  ShardSums compute_shard(std::int64_t update, std::int64_t shard, const JobState& before,
                          Take take);
  void compute_shards(std::int64_t update, const JobState& before, std::vector<ShardSums>& sums);
  void take_state(const std::vector<ShardSums>& all, const JobState& before);

  Job& job_;
  Communicator& ranks_;
  ShardingConfig config_;
  std::vector<Tensor> parameters_;                        // trained
  std::unordered_map<const Node*, std::size_t> numbers_;  // of the parameters, by their leaves
  SumList tensors_;                                       // the same, then the buffers
  SavedBuffers buffers_;
  std::unique_ptr<TensorExchange> exchange_;
  Optimizer* optimizer_ = nullptr;
  SumList sum_;                                 // of the last update
  std::int64_t present_ = 0;                    // shards of it that have rows
  double waiting_ = 0.0, communication_ = 0.0;  // seconds of the last update
};

}  // namespace heed

#include "heed/training/sharded_batches.h"

#include <chrono>
#include <cmath>

#include "heed/autograd/final_gradients.h"
#include "heed/base/interrupt.h"
#include "heed/base/random.h"
#include "heed/distributed/collectives.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

using ShardClock = std::chrono::steady_clock;

double since(ShardClock::time_point start) {
  return std::chrono::duration<double>(ShardClock::now() - start).count();
}

// The first stream of random numbers of a shard. Passes take streams one after another; a pass of
// more than 2^24 layers and steps does not exist. Those of new weights come before all of them.
std::uint64_t first_stream(std::int64_t update, std::int64_t shard, std::int64_t shards) {
  return static_cast<std::uint64_t>(update * shards + shard) << 24;
}

std::vector<Tensor> trained_parameters(const Module& model) {
  std::vector<Tensor> trained;
  for (const Tensor& parameter : model.parameters()) {
    if (parameter.tracks_grad()) trained.push_back(parameter);
  }
  return trained;
}

// While it lives, random numbers are those of shards; afterwards what they were.
class RandomScope {
 public:
  RandomScope() : before_(default_generator().state()) {}
  ~RandomScope() { default_generator().restore(before_); }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

  std::uint64_t seed() const { return before_.seed; }

 private:
  Generator::State before_;
};

}  // namespace

// What the ranks tell each other about a shard.
struct ShardedBatches::ShardSums {
  double loss = 0.0, negative_log_likelihood = 0.0;
  std::int64_t counted = 0, source_tokens = 0, target_tokens = 0;
  double reward = 0.0, entropy = 0.0;
  std::int64_t samples = 0;
  std::int64_t has_rows = 0;
  double baseline = 0.0;
  std::int64_t baseline_updates = 0;
  // Of the rank, in its first shard.
  std::int64_t is_complete = 1;
  double compute = 0.0, waiting = 0.0, communication = 0.0;
};

ShardedBatches::ShardedBatches(Job& job, Communicator& ranks, const ShardingConfig& config)
    : job_(job),
      ranks_(ranks),
      config_(config),
      parameters_(trained_parameters(job.model())),
      tensors_(parameters_),
      buffers_(job.model()) {
  for (const NamedTensor& buffer : job.model().buffers()) tensors_.push_back(buffer.tensor);
  HEED_CHECK(config.wire == Wire::f32 || tensors_.size() == parameters_.size(),
             "[train] wire = bf16: this model has batch norms, whose averages travel with the "
             "gradients and need f32; leave wire out");
  for (std::size_t i = 0; i < parameters_.size(); ++i) numbers_[&*parameters_[i].node()] = i;
  exchange_ = std::make_unique<TensorExchange>(
      ranks, tensors_,
      TensorExchangeConfig{.shards = config.shards, .wire = config.wire, .bucket = config.bucket});
  const ShardRange own = shards_of(ranks.rank(), ranks.size(), config.shards);
  job.take_parts(
      {.count = config.shards, .begin = own.begin, .end = own.end, .batches = config.accumulate});
}

std::vector<ElementRange> ShardedBatches::parts() const {
  std::vector<ElementRange> parts;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parts.push_back(exchange_->partition().part(ranks_.rank(), i));
  }
  return parts;
}

// Moves the gradients and the buffers of a shard out of the model, each once.
class ShardedBatches::TakenTensors {
 public:
  TakenTensors(ShardedBatches& batches, Take take)
      : batches_(batches), take_(take), is_taken_(batches.tensors_.size()) {}

  void take(std::size_t i) {
    Tensor& parameter = batches_.parameters_[i];
    Tensor gradient = parameter.grad();
    parameter.set_grad({});
    is_taken_[i] = true;
    take_(i, gradient.defined() ? contiguous_copy(gradient) : gradient);
  }
  // Those that are left. A shard without rows has no buffers.
  void take_rest(bool has_rows) {
    const std::size_t parameters = batches_.parameters_.size();
    for (std::size_t i = 0; i < parameters; ++i) {
      if (!is_taken_[i]) take(i);
    }
    for (std::size_t i = parameters; i < is_taken_.size(); ++i) {
      take_(i, has_rows ? clone_data(batches_.tensors_[i]) : Tensor());
    }
  }

 private:
  ShardedBatches& batches_;
  Take take_;
  std::vector<bool> is_taken_;
};

// Gradients are taken as soon as they are final, in the pass of the last batch.
ShardedBatches::ShardSums ShardedBatches::compute_shard(std::int64_t update, std::int64_t shard,
                                                        const JobState& before, Take take) {
  const RandomScope random;
  default_generator().restore({random.seed(), first_stream(update, shard, config_.shards)});
  job_.restore(before);
  buffers_.restore();
  BatchSums sums;
  TakenTensors taken(*this, take);
  bool has_rows = false;
  for (std::int64_t i = 0; i < config_.accumulate; ++i) {
    check_interrupt();
    const BatchLoss batch = job_.next();
    if (!batch.sum.defined()) continue;
    has_rows = true;
    sums.add(batch);
    const bool is_last = i + 1 == config_.accumulate;
    const FinalGradients watch([&](const Node& leaf) {
      const auto found = numbers_.find(&leaf);
      if (is_last && found != numbers_.end()) taken.take(found->second);
    });
    batch.sum.backward();
  }
  taken.take_rest(has_rows);
  const JobState state = job_.state();
  return {.loss = sums.loss,
          .negative_log_likelihood = sums.negative_log_likelihood,
          .counted = sums.counted,
          .source_tokens = sums.source_tokens,
          .target_tokens = sums.target_tokens,
          .reward = sums.sampled.reward,
          .entropy = sums.sampled.entropy,
          .samples = sums.sampled.samples,
          .has_rows = has_rows ? 1 : 0,
          .baseline = state.baseline,
          .baseline_updates = state.baseline_updates};
}

// Computes the shards of this rank and gives the sums of its nodes to the exchange. The last shard
// completes the last node, tensor by tensor, in the order in which its gradients become final.
void ShardedBatches::compute_shards(std::int64_t update, const JobState& before,
                                    std::vector<ShardSums>& sums) {
  const ShardRange own = shards_of(ranks_.rank(), ranks_.size(), config_.shards);
  const auto compute_one = [&](std::int64_t shard, Take take) {
    sums[static_cast<std::size_t>(shard - own.begin)] = compute_shard(update, shard, before, take);
  };
  const auto sum_over = [&](const ShardRange& node) {
    return tree_sum<SumList>(
        node, [](const ShardRange& range) { return range.size() == 1; },
        [&](const ShardRange& leaf) {
          SumList gradients(tensors_.size());
          compute_one(leaf.begin, [&](std::size_t i, Tensor value) { gradients[i] = value; });
          return gradients;
        },
        [&](SumList& a, SumList b) { add_lists(a, std::move(b), config_.wire); });
  };
  std::vector<SumList> whole, beside;
  for (const ShardRange& node : exchange_->nodes()) {
    if (node.end < own.end) whole.push_back(sum_over(node));
  }
  for (const ShardRange& node : beside_last(exchange_->nodes().back())) {
    beside.push_back(sum_over(node));
  }
  compute_one(own.end - 1, [&](std::size_t i, Tensor sum) {
    for (std::size_t k = beside.size(); k-- > 0;) {
      sum = add_sums(std::move(beside[k][i]), std::move(sum), config_.wire);
    }
    SumList of_nodes;
    for (SumList& node : whole) of_nodes.push_back(std::move(node[i]));
    of_nodes.push_back(std::move(sum));
    exchange_->put(i, of_nodes);
  });
}

std::optional<BatchSums> ShardedBatches::compute(std::int64_t update, Attempt attempt) {
  auto start = ShardClock::now();
  const StreamPosition first = job_.position();
  const JobState before = job_.state();
  buffers_.save();
  const ShardRange own = shards_of(ranks_.rank(), ranks_.size(), config_.shards);
  std::vector<ShardSums> mine(static_cast<std::size_t>(own.size()));
  const bool is_complete = attempt([&] { compute_shards(update, before, mine); });
  exchange_->put_rest();  // if it was interrupted
  buffers_.restore();
  mine.front().is_complete = is_complete ? 1 : 0;
  mine.front().compute = since(start);
  mine.front().waiting = waiting_;
  mine.front().communication = communication_;

  start = ShardClock::now();
  std::vector<std::size_t> counts;
  for (int r = 0; r < ranks_.size(); ++r) {
    counts.push_back(static_cast<std::size_t>(shards_of(r, ranks_.size(), config_.shards).size()));
  }
  const std::vector<ShardSums> all =
      gather_values(ranks_, std::span<const ShardSums>(mine), counts);
  waiting_ = since(start);

  BatchSums sums;
  bool all_complete = true;
  for (std::size_t r = 0, shard = 0; r < counts.size(); ++r) {
    const ShardSums& of_rank = all[shard];
    all_complete = all_complete && of_rank.is_complete != 0;
    RankReport report{.compute = of_rank.compute,
                      .waiting = of_rank.waiting,
                      .communication = of_rank.communication};
    for (std::size_t k = 0; k < counts[r]; ++k, ++shard) {
      const ShardSums& one = all[shard];
      sums.loss += one.loss;
      sums.negative_log_likelihood += one.negative_log_likelihood;
      sums.counted += one.counted;
      sums.source_tokens += one.source_tokens;
      sums.target_tokens += one.target_tokens;
      sums.sampled.reward += one.reward;
      sums.sampled.entropy += one.entropy;
      sums.sampled.samples += one.samples;
      report.target_tokens += one.target_tokens;
    }
    if (ranks_.size() > 1) sums.ranks.push_back(report);
  }
  if (!all_complete) {
    exchange_->take_sum();  // others have sent theirs
    optimizer_->zero_grad();
    job_.seek(first);
    job_.restore(before);
    return {};
  }
  take_state(all, before);
  start = ShardClock::now();
  sum_ = exchange_->take_sum();
  communication_ = since(start);
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].set_grad(sum_[i]);
  return sums;
}

// The state of the job after all shards: its baseline is the mean of theirs.
void ShardedBatches::take_state(const std::vector<ShardSums>& all, const JobState& before) {
  present_ = 0;
  JobState state = before;
  double sum = 0.0;
  std::int64_t learned = 0;
  for (const ShardSums& one : all) {
    present_ += one.has_rows;
    if (one.baseline_updates == before.baseline_updates) continue;
    sum += one.baseline;
    ++learned;
  }
  if (learned > 0) {
    state = {.baseline = sum / static_cast<double>(learned),
             .baseline_updates = before.baseline_updates + 1};
  }
  job_.restore(state);
}

double ShardedBatches::norm() {
  const auto start = ShardClock::now();
  const double squares = exchange_->sum_of_squares(sum_, parameters_.size());
  communication_ += since(start);
  return std::sqrt(squares);
}

void ShardedBatches::share() {
  const auto start = ShardClock::now();
  const double each = 1.0 / static_cast<double>(present_);
  for (std::size_t i = parameters_.size(); i < tensors_.size(); ++i) {
    if (!sum_[i].defined()) continue;
    scale_in_place(sum_[i], each);
    copy_into(tensors_[i], sum_[i]);
  }
  sum_.clear();
  exchange_->share(tensors_);
  communication_ += since(start);
}

}  // namespace heed

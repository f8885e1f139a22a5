// A job small enough for thousands of updates: a network with dropout learns the parity-like labels
// of points that are a function of the batch's number alone.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "heed/nn/batch_norm.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/nn/dropout.h"
#include "heed/nn/linear.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/create.h"
#include "heed/training/job.h"

namespace heed::test {

struct ToyNetwork : Module {
  explicit ToyNetwork(Generator generator, bool has_norm = false)
      : hidden({.in = 4, .out = 8, .activation = Activation::tanh}, generator),
        scores({.in = 8, .out = 2}, generator) {
    if (has_norm) norm.emplace(BatchNormConfig{.channels = 8});
  }

  void visit(ParameterVisitor& v) override {
    v("hidden", hidden);
    v("norm", norm);
    v("dropout", dropout);
    v("scores", scores);
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = hidden(x);                     // [B, 8]
    return scores(dropout(norm ? (*norm)(y) : y));  // [B, 2]
  }

  Linear hidden;
  std::optional<BatchNorm> norm;
  Dropout dropout{{.p = 0.2}};
  Linear scores;
};

class ToyJob : public Job {
 public:
  static constexpr std::int64_t kEpochBatches = 7;

  static constexpr std::int64_t kRows = 16;

  explicit ToyJob(bool has_norm = false) : network(Generator(5), has_norm) {}

  Module& model() override { return network; }
  BatchLoss next() override {
    if (in_next) in_next();
    const RowRange rows = walk_.parts().rows(walk_.part(), kRows - missing_rows);
    const std::int64_t first = position_.epoch * kEpochBatches + position_.batch;
    const std::int64_t batch = first + walk_.batch();
    if (walk_.advance()) {
      const std::int64_t next = first + walk_.parts().batches;
      position_ = {next / kEpochBatches, next % kEpochBatches};
    }
    const std::int64_t n = rows.size();
    if (n == 0) return {};
    BatchLoss loss{.counted = n, .source_tokens = n, .target_tokens = n};
    loss.sum = loss_of(batch, rows);
    if (poisoned && batch >= *poisoned && (batch - *poisoned) % poison_every == 0) {
      loss.sum = loss.sum * poison;
    }
    always_right_mode = always_right_mode && network.training();
    loss.negative_log_likelihood = loss.sum.item();
    return loss;
  }
  StreamPosition position() const override { return position_; }
  void seek(const StreamPosition& position) override {
    position_ = position;
    walk_.restart();
  }
  void take_parts(const BatchParts& parts) override { walk_ = PartWalk(parts); }
  std::vector<StreamSetting> stream_settings() const override { return settings; }
  double epoch_share() const override {
    return static_cast<double>(position_.batch) / static_cast<double>(kEpochBatches);
  }
  std::vector<Judgement> validate() override {
    always_right_mode = always_right_mode && !network.training();
    if (in_validate) in_validate();
    if (!judgements.empty()) {
      const double value = judgements[judged % judgements.size()];
      ++judged;
      return {{"loss", value, higher_is_better}};
    }
    return {{"loss", loss_of(-1, {0, kRows}).item() / static_cast<double>(kRows)}};
  }
  void save(const std::filesystem::path& folder) const override {
    save_parameters(network, folder / "model.safetensors");
  }

  ToyNetwork network;
  std::optional<std::int64_t> poisoned;  // the first batch whose loss is multiplied by poison
  std::int64_t poison_every = 1;         // and which of those after it
  double poison = std::numeric_limits<double>::quiet_NaN();
  std::function<void()> in_next, in_validate;  // called in the middle of them
  std::vector<StreamSetting> settings;         // of its batches
  std::vector<double> judgements;              // what validations find, one after another
  std::size_t judged = 0;
  std::int64_t missing_rows = 0;  // of each batch
  bool higher_is_better = false;
  bool always_right_mode = true;  // training() while it trains, and not while it is judged

 private:
  Tensor loss_of(std::int64_t batch, const RowRange& rows) const {
    const RandomStream random{3, static_cast<std::uint64_t>(batch + 1)};
    Tensor x = empty({rows.size(), 4});
    Tensor labels = empty({rows.size()}, DType::i64);
    for (std::int64_t i = 0; i < 4 * rows.size(); ++i) {
      x.mutable_data<float>()[i] = random.normal(static_cast<std::uint64_t>(4 * rows.begin + i));
    }
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const float* const point = x.data<float>() + 4 * i;
      labels.mutable_data<std::int64_t>()[i] = point[0] + point[1] > point[2] ? 1 : 0;
    }
    return cross_entropy(network(x), labels, {.reduction = Reduction::sum});
  }

  StreamPosition position_;
  PartWalk walk_;
};

}  // namespace heed::test

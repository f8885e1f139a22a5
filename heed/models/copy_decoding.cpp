#include "heed/models/copy_decoding.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor copy_weights(const Tensor& cross, std::optional<std::int64_t> head) {
  return head ? select(cross, 1, *head - 1) : mean(cross, {1});  // [B, T, S]
}

namespace {

class CopyDecoding : public Decoding, public CopyingDecoding {
 public:
  CopyDecoding(const CopyReader& reader, const Memory& memory, std::unique_ptr<Decoding> steps)
      : reader_(reader), steps_(std::move(steps)) {
    const std::int64_t B = memory.states.size(0), S = memory.states.size(1);
    const Tensor shares = contiguous_copy(reader.gate.context(memory.states));  // [B, S, 1]
    for (std::int64_t b = 0; b < B; ++b) {
      const std::int64_t length =
          memory.lengths.defined()
              ? memory.lengths.values<std::int64_t>()[static_cast<std::size_t>(b)]
              : S;
      const float* const row = shares.data<float>() + b * S;
      shares_.push_back(std::make_shared<const std::vector<float>>(row, row + length));
    }
    steps_->observe(now_, ObservedWeights::cross);
  }

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    const Tensor y = steps_->step(ids);  // [B, T, E]
    if (to_ != nullptr) *to_ = now_;
    copied_.weights = contiguous_copy(copy_weights(now_.back().cross, reader_.head));  // [B, T, S]
    const Tensor own = reader_.gate.state(y) + reader_.gate.input(reader_.inputs(ids));
    copied_.gate = squeeze(own + context_part(), -1);  // [B, T]
    return y;
  }
  void reorder(std::span<const std::int64_t> from) override {
    std::vector<Shares> shares;
    for (const std::int64_t row : from) shares.push_back(shares_[static_cast<std::size_t>(row)]);
    shares_ = std::move(shares);
    steps_->reorder(from);
  }
  bool can_join() const override { return steps_->can_join(); }
  void join(const Decoding& decoding) override {
    const auto* const other = dynamic_cast<const CopyDecoding*>(&decoding);
    HEED_CHECK(other != nullptr,
               "[decoding] sequences join those of another model: a model has its own caches");
    steps_->join(*other->steps_);
    shares_.insert(shares_.end(), other->shares_.begin(), other->shares_.end());
  }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    to_ = what == ObservedWeights::none ? nullptr : &to;
    steps_->observe(now_, what == ObservedWeights::all ? what : ObservedWeights::cross);
    to = now_;
  }
  const CopySteps* copied() const override { return &copied_; }

 private:
  using Shares = std::shared_ptr<const std::vector<float>>;

  // sum_j a_j (w^T h_j) of each row, over its own positions alone and in their order, so that the
  // other sequences do not change its bits: [B, T, 1].
  Tensor context_part() const {
    const Tensor& a = copied_.weights;
    const std::int64_t T = a.size(1), S = a.size(2);
    Tensor sums = empty({a.size(0), T, 1});
    for (std::int64_t row = 0; row < a.size(0) * T; ++row) {
      const std::vector<float>& shares = *shares_[static_cast<std::size_t>(row / T)];
      double sum = 0.0;
      for (std::size_t j = 0; j < shares.size(); ++j) {
        sum += static_cast<double>(a.data<float>()[row * S + static_cast<std::int64_t>(j)]) *
               static_cast<double>(shares[j]);
      }
      sums.mutable_data<float>()[row] = static_cast<float>(sum);
    }
    return sums;
  }

  CopyReader reader_;
  std::unique_ptr<Decoding> steps_;
  std::vector<Shares> shares_;     // w^T h_j + b of each source position, of each sequence
  std::vector<LayerWeights> now_;  // of the last step
  std::vector<LayerWeights>* to_ = nullptr;
  CopySteps copied_;
};

}  // namespace

std::unique_ptr<Decoding> decode_copying_steps(const CopyReader& reader, const Memory& memory,
                                               std::unique_ptr<Decoding> steps) {
  const NoGrad no_grad;
  return std::make_unique<CopyDecoding>(reader, memory, std::move(steps));
}

}  // namespace heed

#include "heed/models/stack_decoding.h"

#include <utility>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/copying.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// S is a kind of stack.
template <typename S>
class StateDecoding : public Decoding {
 public:
  StateDecoding(const TextEmbedding& tokens, const S& stack, const DecodeStart& from)
      : tokens_(tokens),
        stack_(stack),
        state_(stack.start(from)),
        next_(static_cast<std::size_t>(from.memory.defined() ? from.memory.size(0) : from.batch),
              0) {}

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    const Tensor x = tokens_(ids, std::span<const std::int64_t>(next_));  // [B, T, E]
    for (std::int64_t& position : next_) position += ids.size(1);
    return stack_.step(x, state_);  // [B, T, E]
  }
  void reorder(std::span<const std::int64_t> from) override {
    std::vector<std::int64_t> next;
    for (const std::int64_t row : from) next.push_back(next_[static_cast<std::size_t>(row)]);
    next_ = std::move(next);
    state_.reorder(from);
  }
  bool can_join() const override { return state_.can_join(); }
  void join(const Decoding& decoding) override {
    const auto* const other = dynamic_cast<const StateDecoding*>(&decoding);
    HEED_CHECK(other != nullptr && &other->stack_ == &stack_,
               "[decoding] sequences join those of another model: a model has its own caches");
    state_.join(other->state_);
    next_.insert(next_.end(), other->next_.begin(), other->next_.end());
  }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    state_.observe(to, what);
  }

 private:
  const TextEmbedding& tokens_;
  const S& stack_;
  StackState state_;
  std::vector<std::int64_t> next_;  // the position of the next token, of each sequence
};

class ReplayDecoding : public Decoding, public CopyingDecoding {
 public:
  ReplayDecoding(const TranslationModel& model, const Memory& memory)
      : model_(model), memory_(memory) {}

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    ids_ = ids_.defined() ? concat({ids_, ids}, 1) : ids;  // [B, all]
    const std::int64_t all = ids_.size(1), first = all - ids.size(1);
    if (const CopyingModel* const copying = copying_of(model_)) {
      CopySteps steps;
      const Tensor y = copying->decode_copying(ids_, memory_, steps);  // [B, all, E]
      copied_ = {.gate = slice(steps.gate, 1, first, all),
                 .weights = slice(steps.weights, 1, first, all)};
      if (what_ == ObservedWeights::none) return slice(y, 1, first, all);
    }
    if (what_ == ObservedWeights::none) return slice(model_.decode(ids_, memory_), 1, first, all);
    std::vector<LayerWeights> weights;
    const Tensor y = model_.decode(ids_, memory_, &weights);  // [B, all, E]
    to_->resize(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (what_ == ObservedWeights::all) (*to_)[i].self = slice(weights[i].self, 2, first, all);
      (*to_)[i].cross = slice(weights[i].cross, 2, first, all);
    }
    return slice(y, 1, first, all);  // [B, T, E]
  }
  void reorder(std::span<const std::int64_t> from) override {
    const NoGrad no_grad;
    memory_.reorder(from);
    if (ids_.defined()) ids_ = index_select(ids_, 0, from_values(from, {std::ssize(from)}));
  }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    to_ = &to;
    what_ = what;
  }
  const CopySteps* copied() const override {
    return copying_of(model_) != nullptr ? &copied_ : nullptr;
  }

 private:
  const TranslationModel& model_;
  Memory memory_;
  Tensor ids_;  // [B, T], written so far
  std::vector<LayerWeights>* to_ = nullptr;
  ObservedWeights what_ = ObservedWeights::none;
  CopySteps copied_;
};

}  // namespace

void Decoding::join(const Decoding&) {
  throw Error("[decoding] sequences cannot join: the model decodes all of them from the start");
}

std::unique_ptr<Decoding> decode_with_state(const TextEmbedding& tokens, const Stack& stack,
                                            const DecodeStart& from) {
  const NoGrad no_grad;
  return std::make_unique<StateDecoding<Stack>>(tokens, stack, from);
}

std::unique_ptr<Decoding> decode_with_state(const TextEmbedding& tokens,
                                            const ReversibleStack& stack, const DecodeStart& from) {
  const NoGrad no_grad;
  return std::make_unique<StateDecoding<ReversibleStack>>(tokens, stack, from);
}

std::unique_ptr<Decoding> decode_by_replay(const TranslationModel& model, const Memory& memory) {
  return std::make_unique<ReplayDecoding>(model, memory);
}

}  // namespace heed

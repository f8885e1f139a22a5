#include "heed/models/stack_decoding.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

class StateDecoding : public Decoding {
 public:
  StateDecoding(const TextEmbedding& tokens, const Stack& stack, const DecodeStart& from)
      : tokens_(tokens), stack_(stack), state_(stack.start(from)) {}

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    const Tensor x = tokens_(ids, next_);  // [B, T, E]
    next_ += ids.size(1);
    return stack_.step(x, state_);  // [B, T, E]
  }
  void reorder(std::span<const std::int64_t> from) override { state_.reorder(from); }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    state_.observe(to, what);
  }

 private:
  const TextEmbedding& tokens_;
  const Stack& stack_;
  StackState state_;
  std::int64_t next_ = 0;  // the position of the next token
};

class ReplayDecoding : public Decoding {
 public:
  ReplayDecoding(const TranslationModel& model, const Memory& memory)
      : model_(model), memory_(memory) {}

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    ids_ = ids_.defined() ? concat({ids_, ids}, 1) : ids;  // [B, all]
    const std::int64_t all = ids_.size(1), first = all - ids.size(1);
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

 private:
  const TranslationModel& model_;
  Memory memory_;
  Tensor ids_;  // [B, T], written so far
  std::vector<LayerWeights>* to_ = nullptr;
  ObservedWeights what_ = ObservedWeights::none;
};

}  // namespace

void Memory::reorder(std::span<const std::int64_t> from) {
  const NoGrad no_grad;
  const Tensor ids = from_values(from, {std::ssize(from)});
  states = index_select(states, 0, ids);  // [B, S, E]
  if (lengths.defined()) lengths = index_select(lengths, 0, ids);
}

std::unique_ptr<Decoding> decode_with_state(const TextEmbedding& tokens, const Stack& stack,
                                            const DecodeStart& from) {
  const NoGrad no_grad;
  return std::make_unique<StateDecoding>(tokens, stack, from);
}

std::unique_ptr<Decoding> decode_by_replay(const TranslationModel& model, const Memory& memory) {
  return std::make_unique<ReplayDecoding>(model, memory);
}

}  // namespace heed

#include "heed/generation/transformer_steps.h"

#include <utility>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/cached_steps.h"
#include "heed/ops/index.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

class ReplayedSteps : public StepModel {
 public:
  ReplayedSteps(const Transformer& model, const Memory& memory)
      : model_(model), memory_(memory), written_(static_cast<std::size_t>(memory.states.size(0))) {}

  std::int64_t rows() const override { return std::ssize(written_); }
  std::int64_t vocabulary() const override { return model_.config().target_vocabulary; }

  Tensor step(std::span<const std::int32_t> last) override {
    const NoGrad no_grad;
    HEED_ASSERT(std::ssize(last) == rows());
    std::vector<std::int32_t> all;
    for (std::size_t row = 0; row < written_.size(); ++row) {
      written_[row].push_back(last[row]);
      all.insert(all.end(), written_[row].begin(), written_[row].end());
    }
    if (all.empty()) return empty({0, vocabulary()});
    const Tensor y = model_.decode(ids_of(all, rows()), memory_);             // [rows, T, E]
    return model_.scores(squeeze(slice(y, 1, y.size(1) - 1, y.size(1)), 1));  // [rows, V]
  }

  void reorder(std::span<const std::int64_t> from) override {
    const Tensor ids = from_values(from, {std::ssize(from)});
    memory_.states = index_select(memory_.states, 0, ids);
    if (memory_.lengths.defined()) memory_.lengths = index_select(memory_.lengths, 0, ids);
    std::vector<std::vector<std::int32_t>> chosen;
    for (const std::int64_t row : from) chosen.push_back(written_[static_cast<std::size_t>(row)]);
    written_ = std::move(chosen);
  }

 private:
  const Transformer& model_;
  Memory memory_;
  std::vector<std::vector<std::int32_t>> written_;
};

}  // namespace

std::unique_ptr<StepModel> make_steps(const Transformer& model, const Memory& memory,
                                      Stepping stepping) {
  if (stepping == Stepping::automatic) {
    stepping = model.can_step() ? Stepping::cached : Stepping::replayed;
  }
  if (stepping == Stepping::cached) {
    return std::make_unique<CachedSteps<Transformer>>(model, memory.states.size(0),
                                                      model.start(memory));
  }
  return std::make_unique<ReplayedSteps>(model, memory);
}

}  // namespace heed

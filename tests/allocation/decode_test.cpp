// A decoding step in steady state: the layers of a model with packed weights and the choice of the
// best tokens ask nothing of the system.
#include <gtest/gtest.h>

#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/generation/token_scores.h"
#include "heed/models/transformer.h"
#include "heed/nn/pack_weights.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/allocation/count_allocations.h"

namespace heed {
namespace {

constexpr std::int64_t kRows = 5, kPage = kernels::kPagePositions;

Transformer packed_model(PackedForm form) {
  Generator generator(3);
  Transformer model({.source_vocabulary = 50,
                     .target_vocabulary = 50,
                     .encoder_layers = 1,
                     .decoder_layers = 2,
                     .block = {.embed = 32, .heads = 4, .hidden = 64}},
                    generator);
  model.eval();
  pack_weights(model, form);
  return model;
}

// Calls of malloc, and new blocks of the arena.
struct Taken {
  std::uint64_t heap = test::allocations();
  std::uint64_t blocks = arena::stats().system_allocations;
};

// A page is taken for 16 positions; the steps counted are those within the second one.
TEST(DecodingAllocations, NoneInAStepOfTheModel) {
  const NoGrad no_grad;
  const int threads = num_threads();
  set_num_threads(1);
  for (const PackedForm form :
       {PackedForm::f32, PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
    const Transformer model = packed_model(form);
    const Memory memory = model.encode(full({kRows, 7}, 9.0, DType::i64));
    const std::unique_ptr<Decoding> decoding = model.start(memory);
    const Tensor ids = full({kRows, 1}, 11.0, DType::i64);
    const BannedTokens banned{.starts = std::vector<std::int64_t>(kRows + 1, 0)};
    BestTokens best;
    const auto step = [&] {
      TokenScores scores(squeeze(decoding->step(ids), 1), model.output_layer());
      scores.find_best(4, banned, best);
    };
    for (std::int64_t i = 0; i < kPage + 2; ++i) step();
    const Taken before;
    for (std::int64_t i = kPage + 2; i < 2 * kPage; ++i) step();
    const Taken after;
    EXPECT_EQ(after.heap - before.heap, 0u) << name_of(form) << ": calls of malloc";
    EXPECT_EQ(after.blocks - before.blocks, 0u) << name_of(form) << ": blocks of the arena";
  }
  set_num_threads(threads);
}

}  // namespace
}  // namespace heed

// What all models have: adapters that are added and merged.
#include "heed/models/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "heed/models/kinds.h"
#include "tests/models/model_case.h"

namespace heed::model_test {
namespace {

// A small model of a kind.
std::unique_ptr<Model> small_model(const ModelKind& kind) {
  ModelChoice choice(kind);
  choice.config().set_sizes({.source_vocabulary = 11,
                             .target_vocabulary = 11,
                             .classes = 3,
                             .picture = {1, 8, 8},
                             .inputs = 4,
                             .outputs = 3});
  Generator generator(1);
  return choice.make(generator);
}

// Adapters belong to linear layers; these kinds have only tables and recurrent cells.
constexpr std::string_view kWithoutLinear[] = {"memory_network", "reader"};

TEST(Model, EveryKindTakesAdapters) {
  for (const ModelKind& kind : model_kinds()) {
    SCOPED_TRACE(kind.name);
    const auto model = small_model(kind);
    const std::size_t before = model->named_parameters().size();
    Generator generator(2);
    if (std::ranges::find(kWithoutLinear, kind.name) != std::end(kWithoutLinear)) {
      EXPECT_THROW(model->adapt({.rank = 1, .targets = {"*"}}, generator), Error);
      continue;
    }
    model->adapt({.rank = 1, .targets = {"*"}}, generator);
    EXPECT_EQ(model->lora().rank, 1);
    EXPECT_GT(model->named_parameters().size(), before);
    model->merge_adapters();
    EXPECT_EQ(model->lora().rank, 0);
    EXPECT_EQ(model->named_parameters().size(), before);
  }
}

}  // namespace
}  // namespace heed::model_test

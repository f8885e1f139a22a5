// What PyTorch computes, and what the formulas of the papers give in it: tools/golden/attention.py.
#include <gtest/gtest.h>

#include "heed/heed.h"
#include "tests/support/golden.h"

namespace heed {
namespace {

using test::check_golden;
using test::Golden;
using test::Named;

void check(const std::string& name, const std::function<AttentionSpec(const Golden&)>& spec) {
  check_golden(name, [&](const Golden& g) -> Named {
    return {{"y", attention(g["q"], g["k"], g["v"], spec(g))}};
  });
}

TEST(AttentionGolden, PyTorch) {
  check("attention", [](const Golden&) { return AttentionSpec{}; });
  check("attention_causal", [](const Golden&) { return AttentionSpec{.mask = causal()}; });
  check("attention_gqa", [](const Golden&) { return AttentionSpec{}; });
  check("attention_mask",
        [](const Golden& g) { return AttentionSpec{.mask = boolean_mask(g["mask"])}; });
  check("attention_bias",
        [](const Golden& g) { return AttentionSpec{.modifiers = {dense_bias(g["bias"])}}; });
}

TEST(AttentionGolden, Papers) {
  check("attention_alibi",
        [](const Golden& g) { return AttentionSpec{.modifiers = {alibi(g["slopes"])}}; });
  check("attention_t5",
        [](const Golden& g) { return AttentionSpec{.modifiers = {t5_bias(g["table"])}}; });
  check("attention_shaw", [](const Golden& g) {
    return AttentionSpec{.modifiers = {shaw_keys(g["key_table"])},
                         .reweights = {shaw_values(g["value_table"])}};
  });
  check("attention_soft_cap",
        [](const Golden& g) { return AttentionSpec{.modifiers = {soft_cap(g.number("cap"))}}; });
  check("attention_sink",
        [](const Golden& g) { return AttentionSpec{.normaliser = softmax_with_sink(g["sinks"])}; });
  check("attention_additive",
        [](const Golden& g) { return AttentionSpec{.score = additive_score(g["w"])}; });
}

}  // namespace
}  // namespace heed

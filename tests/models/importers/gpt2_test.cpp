// GPT-2 compared with transformers, also as the hub has it: without prefix, with masks, in a file
// of PyTorch.
#include "heed/models/importers/gpt2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/models/importers/hf_case.h"
#include "tests/support/error_message.h"

namespace heed::gpt2_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ImportGpt2, Golden) { test::check_causal("gpt2"); }
TEST(ImportGpt2, AsTheHubHasIt) { test::check_causal("gpt2_bin"); }

TEST(ImportGpt2, RefusesOptionsThatItDoesNotCompute) {
  const test::HfCase golden("gpt2");
  const auto complaint = [&](const char* option) {
    const std::string json = fmt::format(
        R"({{"vocab_size": 11, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 8, {}}})",
        option);
    return error_message([&] {
      import_gpt2({io::parse_json(json, "config.json"), "config.json"}, golden.tensors());
    });
  };
  EXPECT_THAT(complaint(R"("scale_attn_weights": false)"),
              AllOf(HasSubstr("config.json"), HasSubstr("\"scale_attn_weights\" is false")));
  EXPECT_THAT(complaint(R"("scale_attn_by_inverse_layer_idx": true)"), HasSubstr("is true"));
  EXPECT_THAT(complaint(R"("add_cross_attention": true)"), HasSubstr("is true"));
  EXPECT_EQ(complaint(R"("reorder_and_upcast_attn": true)"), "(no error)");
}

}  // namespace
}  // namespace heed::gpt2_test

// Reformer compared with transformers, with the same directions of its hashes.
#include "heed/models/importers/reformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/variants/lsh.h"
#include "heed/autograd/tape.h"
#include "heed/io/json.h"
#include "heed/models/reformer.h"
#include "tests/models/importers/hf_case.h"
#include "tests/support/error_message.h"

namespace heed::reformer_import_test {
namespace {

using testing::HasSubstr;

TEST(ImportReformer, Golden) {
  const test::HfCase golden("reformer");
  const NoGrad no_grad;
  for (const char* const config : test::kHfConfigs) {
    const auto model = golden.model<CausalModel>(config);
    int hashed = 0;
    for (TransformerLayer& layer : dynamic_cast<Reformer&>(*model).decoder.layers) {
      if (auto* const lsh = dynamic_cast<LshAttention*>(layer.self_attn.get())) {
        lsh->set_directions(golden["in.directions"]);
        ++hashed;
      }
    }
    EXPECT_EQ(hashed, 2);
    for (const int length : {3, 8, 11, 30}) {
      SCOPED_TRACE(fmt::format("{}, {} tokens", config, length));
      const Tensor states = (*model)(golden[fmt::format("in.ids_{}", length)]);  // [B, T, 2 E]
      test::expect_near(states, golden, fmt::format("out.hidden_{}", length), false);
      test::expect_near(model->output_layer()(states), golden, fmt::format("out.logits_{}", length),
                        false);
    }
  }
}

std::string complaint(const char* option) {
  const std::string json = fmt::format(
      R"({{"vocab_size": 11, "hidden_size": 16, "num_attention_heads": 2, "attention_head_size": 8,
           "feed_forward_size": 8, "attn_layers": ["lsh"], "max_position_embeddings": 4096,
           "axial_pos_shape": [64, 64], "axial_pos_embds_dim": [4, 12], {}}})",
      option);
  return error_message([&] {
    import_reformer({io::parse_json(json, "config.json"), "config.json"}, no_tensors());
  });
}

TEST(ImportReformer, RefusesOptionsThatItDoesNotCompute) {
  EXPECT_THAT(complaint(R"("is_decoder": false)"), HasSubstr("\"is_decoder\" is false"));
  EXPECT_THAT(complaint(R"("tie_word_embeddings": true)"), HasSubstr("is true"));
  EXPECT_EQ(complaint(R"("lsh_num_chunks_before": 2)"),
            "[import] config.json: \"lsh_num_chunks_before\" is 2: heed reads 1");
  EXPECT_EQ(complaint(R"("local_num_chunks_after": 1)"),
            "[import] config.json: \"local_num_chunks_after\" is 1: heed reads 0");
  EXPECT_EQ(complaint(R"("num_buckets": [2, 4, 8])"),
            "[import] config.json: \"num_buckets\" has 3 factors: heed reads one or two");
  EXPECT_EQ(complaint(R"("num_buckets": 4)"), "(no error)");
}

TEST(ImportReformer, ChoosesBucketsByTheLongestText) {
  const auto lsh_of = [](int longest) {
    const std::string json = fmt::format(
        R"({{"vocab_size": 11, "hidden_size": 16, "num_attention_heads": 2,
             "attention_head_size": 8, "feed_forward_size": 8, "attn_layers": ["lsh"],
             "max_position_embeddings": {}, "axial_pos_embds": false}})",
        longest);
    Import import =
        import_reformer({io::parse_json(json, "config.json"), "config.json"}, no_tensors());
    return import.model.config_of<Reformer>()->block.lsh.text();
  };
  EXPECT_THAT(lsh_of(4096), HasSubstr("buckets=128 factor=1 chunk=64"));
  EXPECT_THAT(lsh_of(65536), HasSubstr("buckets=32 factor=64 chunk=64"));
}

}  // namespace
}  // namespace heed::reformer_import_test

// BART, mBART and M2M100 compared with transformers, and the names under which files may have tied
// embeddings.
#include "heed/models/importers/bart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "heed/io/safetensors.h"
#include "heed/models/transformer.h"
#include "tests/models/importers/hf_translator.h"
#include "tests/support/temp_dir.h"

namespace heed::bart_test {
namespace {

using testing::HasSubstr;

TEST(ImportBart, Golden) { test::check_encoder_decoder("bart"); }
TEST(ImportBart, GoldenMBart) { test::check_encoder_decoder("mbart"); }
TEST(ImportBart, GoldenM2m100) { test::check_encoder_decoder("m2m_100"); }

// The tensors of a folder under other names, as one file; those with an empty name are left out.
std::filesystem::path renamed(const test::HfCase& golden, const TempDir& dir,
                              const std::map<std::string, std::vector<std::string>>& names) {
  std::vector<io::SafetensorsItem> items;
  for (const io::TensorEntry& entry : golden.tensors().entries()) {
    const auto found = names.find(entry.name);
    if (found == names.end()) {
      items.push_back({entry.name, entry.type, entry.shape, entry.bytes});
      continue;
    }
    for (const std::string& name : found->second) {
      items.push_back({name, entry.type, entry.shape, entry.bytes});
    }
  }
  io::write_safetensors(dir / "model.safetensors", items);
  return dir / "model.safetensors";
}

TEST(ImportBart, TiedEmbeddingsMayHaveAnyOfTheirNames) {
  const test::HfCase golden("bart");
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"lm_head.weight"},
        {"model.encoder.embed_tokens.weight"},
        {"model.decoder.embed_tokens.weight"},
        {"model.shared.weight", "lm_head.weight", "model.encoder.embed_tokens.weight"}}) {
    const TempDir dir;
    const io::TensorSource tensors =
        io::TensorSource::open(renamed(golden, dir, {{"model.shared.weight", names}}));
    const std::unique_ptr<Model> model = import_model(golden.import(), tensors);
    const auto& bart = dynamic_cast<const Transformer&>(*model);
    EXPECT_EQ(bart.output.weight.data.storage(), bart.source.tokens.weight.data.storage());
    const NoGrad no_grad;
    const Memory memory = bart.encode(golden["in.ids"], golden["in.lengths"]);
    test::expect_near(memory.states, golden, "out.encoder");
  }
  const TempDir dir;
  const io::TensorSource none =
      io::TensorSource::open(renamed(golden, dir, {{"model.shared.weight", {}}}));
  try {
    import_model(golden.import(), none);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tensor 'model.shared.weight' [67, 16] is missing"));
  }
}

// Files of bare models have no prefix and no bias of the output.
TEST(ImportBart, ABareModel) {
  const test::HfCase golden("bart");
  std::map<std::string, std::vector<std::string>> names;
  for (const io::TensorEntry& entry : golden.tensors().entries()) {
    const bool is_bias = entry.name == "final_logits_bias";
    names[entry.name] = is_bias ? std::vector<std::string>() : std::vector{entry.name.substr(6)};
  }
  const TempDir dir;
  const io::TensorSource tensors = io::TensorSource::open(renamed(golden, dir, names));
  const ForeignConfig config = ForeignConfig::read(golden.path() / "config.json");
  const std::unique_ptr<Model> model = import_model(import_bart(config, tensors), tensors);
  const auto& bart = dynamic_cast<const Transformer&>(*model);
  EXPECT_FALSE(bart.output.bias.defined());
  const NoGrad no_grad;
  test::expect_near(bart.encode(golden["in.ids"], golden["in.lengths"]).states, golden,
                    "out.encoder");
}

TEST(ImportBart, PositionsEndWhereTheTableDoes) {
  const auto model = test::HfCase("bart").model<TranslationModel>();
  EXPECT_EQ(model->max_source(), 32);
  EXPECT_EQ(model->max_target(), 32);
  EXPECT_GT(test::HfCase("m2m_100").model<TranslationModel>()->max_source(), 1 << 20);
}

}  // namespace
}  // namespace heed::bart_test

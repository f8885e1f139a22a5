// Models of other programs: what is recognised as one, what is read without loading weights, and
// the messages for what heed does not use.
#include "heed/generation/foreign_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "tests/generation/foreign_case.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"

namespace heed::foreign_folder_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ForeignFolder, IsRecognised) {
  const TempDir dir;
  EXPECT_FALSE(is_foreign(dir / "none"));
  EXPECT_FALSE(is_foreign(dir.path()));
  test::write_foreign(dir.path());
  EXPECT_TRUE(is_foreign(dir.path()));
  const TempDir own;
  save_model(test::tiny_generator(), own.path());
  EXPECT_FALSE(is_foreign(own.path())) << "heed's own";
}

TEST(ForeignFolder, IsOpenedWithoutItsWeights) {
  const TempDir dir;
  test::write_foreign(dir.path(), R"("tie_word_embeddings": true)");
  io::write_file(dir / "generation_config.json", R"({"top_k": 7})");
  const ForeignFolder folder = open_foreign(dir.path());
  EXPECT_EQ(folder.config.integer("vocab_size"), 32);
  EXPECT_EQ(folder.generation.integer("top_k"), 7);
  EXPECT_EQ(folder.import.model.kind().name, "language_model");
  EXPECT_TRUE(folder.tensors.contains("model.embed_tokens.weight"));
  EXPECT_EQ(kind_of_model(dir.path()).task, Task::language);
}

TEST(ForeignFolder, IsLoadedAsAnyModelIs) {
  const TempDir dir;
  test::write_foreign(dir.path());
  const TextGenerator generator = load_text_generator(dir.path());
  EXPECT_EQ(generator.model->vocabulary(), 32);
  EXPECT_EQ(generator.tokenizer->size(), 30) << "a model may have more rows than tokens";
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }),
              HasSubstr("holds a model for task \"language\""));
}

TEST(ForeignFolder, AGgufFileIsAModel) {
  const TempDir dir;
  test::write_gguf(dir / "small.gguf");
  for (const std::filesystem::path& place : {dir / "small.gguf", dir.path()}) {
    EXPECT_TRUE(is_foreign(place));
    const TextGenerator generator = load_text_generator(place);
    EXPECT_EQ(generator.model->vocabulary(), 32);
    EXPECT_EQ(generator.tokenizer->decode(generator.tokenizer->encode("ab c")), "ab c");
  }
  io::write_file(dir / "other.gguf", "no GGUF");
  EXPECT_THAT(error_message([&] { load_text_generator(dir / "other.gguf"); }),
              HasSubstr("other.gguf"));
}

TEST(ForeignFolder, SaysWhatHeedDoesNotUse) {
  const TempDir dir;
  test::write_foreign(dir.path(), R"("quantization_config": {"quant_method": "gptq", "bits": 4})");
  EXPECT_THAT(error_message([&] { open_foreign(dir.path()); }),
              AllOf(HasSubstr("config.json"), HasSubstr("\"gptq\""), HasSubstr("GGUF")));
  io::write_file(dir / "config.json", R"({"model_type": "mamba"})");
  EXPECT_THAT(error_message([&] { open_foreign(dir.path()); }),
              AllOf(HasSubstr("\"mamba\""), HasSubstr("llama")));
}

TEST(ForeignFolder, ATokenizerWithMoreTokensThanTheModelIsRefused) {
  const TempDir dir;
  test::write_foreign(dir.path());
  const ForeignFolder folder = open_foreign(dir.path());
  const auto tokenizer = test::letters();
  EXPECT_EQ(error_message([&] { check_fits(tokenizer->size(), *tokenizer, folder); }),
            "(no error)");
  EXPECT_THAT(error_message([&] { check_fits(tokenizer->size() - 1, *tokenizer, folder); }),
              AllOf(HasSubstr(dir.path().string()), HasSubstr("do not belong together")));
}

}  // namespace
}  // namespace heed::foreign_folder_test

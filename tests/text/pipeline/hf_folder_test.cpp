// Folders of Hugging Face: small ones made here, and real ones if they are on this machine
// ($HEED_MODELS, else ~/.cache/heed-models).
#include "heed/text/pipeline/hf_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "heed/io/file.h"
#include "heed/text/pipeline/hf_tokenizer.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed::hf_folder_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kVocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nDog\ndog\n##s\n";

TEST(HfFolder, ReadsBertsFiles) {
  const TempDir folder;
  io::write_file(folder / "vocab.txt", kVocab);
  EXPECT_THAT(read_hf_tokenizer(folder.path())->encode("The DOGS"), ElementsAre(5, 7, 8));
  io::write_file(folder / "tokenizer_config.json",
                 R"({"do_lower_case": false, "cls_token": {"content": "[MASK]"}})");
  const auto cased = read_hf_tokenizer(folder.path());
  EXPECT_THAT(cased->encode("the Dog"), ElementsAre(5, 6));
  EXPECT_EQ(cased->special(), (SpecialTokens{1, 4, 3, 0}));
}

TEST(HfFolder, ReadsMariansFiles) {
  const TempDir folder;
  const std::string model = io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20);
  io::write_file(folder / "source.spm", model);
  io::write_file(folder / "target.spm", model);
  io::write_file(folder / "vocab.json", R"({"</s>": 0, "<unk>": 1, "▁the": 2, "<pad>": 3})");
  const auto source = read_hf_tokenizer(folder.path());
  EXPECT_EQ(source->kind(), "mapped_pieces");
  EXPECT_EQ(source->special(), (SpecialTokens{1, 0, 0, 3}));
  EXPECT_EQ(read_hf_tokenizer(folder.path(), Side::target)->size(), 4);
}

TEST(HfFolder, ReadsM2m100sFiles) {
  const TempDir folder;
  io::write_file(folder / "sentencepiece.bpe.model",
                 io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20));
  io::write_file(folder / "vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3})");
  const auto tokenizer = read_hf_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->size(), 104);
  EXPECT_EQ(tokenizer->piece(4), "__af__");
  EXPECT_EQ(tokenizer->piece(103), "__zu__");
}

TEST(HfFolder, ReadsMBartsFiles) {
  const TempDir folder;
  io::write_file(folder / "sentencepiece.bpe.model",
                 io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20));
  const std::int64_t plain = read_hf_tokenizer(folder.path())->size();
  const auto expect_languages = [&](std::int64_t count, std::string_view last) {
    const auto tokenizer = read_hf_tokenizer(folder.path());
    ASSERT_EQ(tokenizer->size(), plain + count);
    const auto first = static_cast<std::int32_t>(plain - 1);  // <mask> is the last one
    EXPECT_EQ(tokenizer->piece(first), "ar_AR");
    EXPECT_EQ(tokenizer->piece(first + static_cast<std::int32_t>(count) - 1), last);
    EXPECT_EQ(tokenizer->piece(first + static_cast<std::int32_t>(count)), "<mask>");
    EXPECT_EQ(tokenizer->decode(std::vector<std::int32_t>{first}), "");
  };
  io::write_file(folder / "config.json", R"({"model_type": "mbart", "tokenizer_class": null})");
  expect_languages(25, "zh_CN");
  io::write_file(folder / "tokenizer_config.json", R"({"tokenizer_class": "MBart50Tokenizer"})");
  expect_languages(52, "sl_SI");
}

TEST(HfFolder, ReadsSentencePieceModels) {
  const std::string model = io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20);
  for (const std::string name : {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"}) {
    const TempDir folder;
    io::write_file(folder / name, model);
    const auto tokenizer = read_hf_tokenizer(folder.path());
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("the dog")), "the dog") << name;
  }
}

TEST(HfFolder, SpecialTokensComeFromTheFilesBeside) {
  const TempDir folder;
  io::write_file(folder / "tokenizer.json",
                 R"({"added_tokens": [], "model": {"type": "WordLevel", "unk_token": "u",
                     "vocab": {"u": 0, "b": 1, "e": 2, "p": 3}}})");
  io::write_file(folder / "tokenizer_config.json", R"({"bos_token": "b", "pad_token": null})");
  io::write_file(folder / "special_tokens_map.json",
                 R"({"eos_token": {"content": "e"}, "pad_token": "p"})");
  EXPECT_EQ(read_hf_tokenizer(folder.path())->special(), (SpecialTokens{0, 1, 2, 3}));
}

TEST(HfFolder, ErrorsNameTheFile) {
  const TempDir folder;
  EXPECT_THAT(error_message([&] { read_hf_tokenizer(folder.path()); }),
              HasSubstr("has no tokenizer"));
  io::write_file(folder / "tokenizer.json", "{");
  EXPECT_THAT(error_message([&] { read_hf_tokenizer(folder.path()); }),
              HasSubstr("tokenizer.json"));
}

// ---- real tokenizers ----------------------------------------------------------------------------

std::filesystem::path models() {
  if (const char* const folder = std::getenv("HEED_MODELS")) return folder;
  const char* const home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache/heed-models";
}

// One text and its ids by transformers.
struct RealCase {
  std::string model, text;
  std::vector<std::int32_t> ids;
};

class RealFolder : public testing::TestWithParam<RealCase> {};

TEST_P(RealFolder, GivesTheIdsOfTransformers) {
  const RealCase& real = GetParam();
  if (!std::filesystem::exists(models() / real.model)) {
    GTEST_SKIP() << real.model << " is not in " << models().string();
  }
  const auto tokenizer = read_hf_tokenizer(models() / real.model);
  EXPECT_EQ(tokenizer->encode(real.text), real.ids);
}

INSTANTIATE_TEST_SUITE_P(
    Models, RealFolder,
    testing::Values(RealCase{"all-minilm-l6-v2",
                             "The café's 2 dogs—naïve 狗狗!  run 😀 unaffable.",
                             {1996, 7668, 1005, 1055, 1016, 6077, 1517, 15743, 100, 100, 999, 2448,
                              100, 14477, 20961, 3468, 1012}},
                    RealCase{"all-mpnet-base-v2",
                             "The café's 2 dogs—naïve 狗狗!  run 😀 unaffable.",
                             {2000, 7672, 1009, 1059, 1020, 6081, 1521, 15747, 104, 104, 1003, 2452,
                              104, 14481, 20965, 3472, 1016}},
                    RealCase{"bge-small-zh-v1.5",
                             "The café's 2 dogs—naïve 狗狗!  run 😀 unaffable.",
                             {100, 100, 112, 161, 123, 13030, 8118, 100, 100, 4318, 4318, 106, 9909,
                              100, 163, 8374, 9049, 9609, 119}},
                    RealCase{"bert-base-uncased",
                             "The café's 2 dogs—naïve 狗狗!  run 😀 unaffable.",
                             {1996, 7668, 1005, 1055, 1016, 6077, 1517, 15743, 100, 100, 999, 2448,
                              100, 14477, 20961, 3468, 1012}},
                    RealCase{"opus-mt-en-fr",
                             "The café's 2 dogs—naïve 狗狗!  run 😀 unaffable.",
                             {35, 6017, 6,   9,    144, 17048, 1569, 364,  4277, 517,
                              49, 1,    145, 3073, 49,  49636, 34,   7647, 514,  3}}),
    [](const auto& given) {
      std::string name = given.param.model;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

}  // namespace
}  // namespace heed::hf_folder_test

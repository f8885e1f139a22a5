// The older files as tokenizer.json: the results are those of the golden tokenizers.
#include "heed/text/pipeline/hf_convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"
#include "tests/text/pipeline/golden_tokenizers.h"

namespace heed::pipeline::hf_convert_test {
namespace {

std::string small_model() {
  return io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20);
}

TEST(HfConvert, BertsVocabulary) {
  const io::Value golden = test::read_golden_tokenizers("word_piece");
  const io::Value& entry = test::golden_entry(golden, "bert");
  const io::Value& vocab =
      test::member(test::member(test::member(entry, "tokenizer"), "model"), "vocab");
  std::vector<std::string> lines(vocab.table()->size());
  for (const io::Member& token : *vocab.table()) {
    lines[static_cast<std::size_t>(*token.value.integer())] = token.key;
  }
  const auto tokenizer = HfTokenizer::parse(
      bert_tokenizer_json(fmt::format("{}\n", fmt::join(lines, "\n")), {}), "vocab.txt");
  test::expect_golden(*tokenizer, entry, test::member(golden, "lines"));
}

TEST(HfConvert, SentencePieceModels) {
  const io::Value golden = test::read_golden_tokenizers("unigram");
  const SpmFile model = SpmFile::parse(small_model(), "small.model");
  const auto t5 = HfTokenizer::parse(t5_tokenizer_json(model, 2), "spiece.model");
  test::expect_golden(*t5, test::golden_entry(golden, "spiece"), test::member(golden, "lines"));
  const auto fairseq = HfTokenizer::parse(fairseq_tokenizer_json(model), "sentencepiece.bpe.model");
  test::expect_golden(*fairseq, test::golden_entry(golden, "fairseq"),
                      test::member(golden, "lines"));
}

TEST(HfConvert, ByteLevelBpe) {
  const io::Value golden = test::read_golden_tokenizers("byte_level");
  for (const bool roberta : {false, true}) {
    const io::Value& entry = test::golden_entry(golden, roberta ? "roberta" : "gpt2");
    const io::Value& model = test::member(test::member(entry, "tokenizer"), "model");
    std::string merges = "#version: 0.2\n";
    for (const io::Value& pair : *test::member(model, "merges").list()) {
      merges += fmt::format("{} {}\n", *(*pair.list())[0].string(), *(*pair.list())[1].string());
    }
    io::Value vocab = test::member(model, "vocab");
    if (roberta) {  // its list has the mask, which the golden tokenizer added
      const auto next = static_cast<std::int64_t>(vocab.table()->size());
      std::get<io::Value::Table>(vocab.data).push_back({"<mask>", {next}});
    }
    const auto tokenizer = HfTokenizer::parse(
        byte_level_tokenizer_json(io::write_json(vocab, false), merges,
                                  {.prefix_space = roberta, .roberta = roberta}, "vocab.json"),
        "vocab.json");
    test::expect_golden(*tokenizer, entry, test::member(golden, "lines"));
  }
}

TEST(HfConvert, MissingSpecialTokensAreErrors) {
  EXPECT_THAT(error_message([] { bert_tokenizer_json("a\nb\n", {}); }),
              testing::HasSubstr("lacks the special token \"[CLS]\""));
}

}  // namespace
}  // namespace heed::pipeline::hf_convert_test

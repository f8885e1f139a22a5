// Translators of Hugging Face: searches compared with those of transformers, and what folders say
// about languages, special tokens and searches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/examine.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "tests/models/importers/hf_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::import_translator_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Tokens = std::vector<std::int32_t>;

// A tokenizer.json that splits at spaces.
std::string tokenizer_json(const std::vector<std::string>& tokens) {
  std::string vocabulary;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    vocabulary += fmt::format("{}\"{}\": {}", i > 0 ? ", " : "", tokens[i], i);
  }
  return fmt::format(
      R"({{"version": "1.0", "added_tokens": [], "normalizer": null, "post_processor": null, )"
      R"("pre_tokenizer": {{"type": "WhitespaceSplit"}}, "decoder": null, "model": {{"type": )"
      R"("WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##", )"
      R"("max_input_chars_per_word": 100, "vocab": {{{}}}}}}})",
      vocabulary);
}

// <s> <pad> </s> <unk>, words, and at the end those given.
std::vector<std::string> tokens_with(std::size_t count, const std::vector<std::string>& last = {}) {
  std::vector<std::string> tokens = {"<s>", "<pad>", "</s>", "<unk>"};
  while (tokens.size() + last.size() < count) tokens.push_back(fmt::format("w{}", tokens.size()));
  tokens.insert(tokens.end(), last.begin(), last.end());
  return tokens;
}

// A copy of a golden folder with a tokenizer, in which files can be changed.
class Folder {
 public:
  explicit Folder(const std::string& name, const std::vector<std::string>& tokens) : golden(name) {
    for (const char* const file : {"config.json", "generation_config.json", "model.safetensors"}) {
      std::filesystem::copy(golden.path() / file, dir_ / file);
    }
    write("tokenizer.json", tokenizer_json(tokens));
  }
  /// As folders of transformers 4 were before generation_config.json.
  void make_old() {
    std::filesystem::remove(dir_ / "generation_config.json");
    std::filesystem::copy(golden.path() / "config_4x.json", dir_ / "config.json",
                          std::filesystem::copy_options::overwrite_existing);
  }
  void write(const std::string& name, const std::string& text) {
    io::write_file(dir_ / name, text);
  }
  Translator load() const { return load_translator(dir_.path()); }

  const test::HfCase golden;

 private:
  TempDir dir_;
};

// ---- against transformers -----------------------------------------------------------------------

void expect_results(const Folder& folder) {
  const Translator translator = folder.load();
  const TranslationFormat& format = translator.format();
  EXPECT_EQ(format.search.stopping, Stopping::estimate);
  EXPECT_NE(format.is_cut, format.is_end_certain);
  for (const auto& [key, beam_size] : {std::pair("out.greedy", 1), std::pair("out.beam", 4)}) {
    TranslateOptions options{.search = format.search};
    options.search.beam_size = beam_size;
    options.search.max_length = folder.golden[key].size(1) - (format.is_end_certain ? 1 : 0);
    const auto scores = folder.golden["out.beam_scores"].to_vector<float>();
    for (std::size_t row = 0; row < 2; ++row) {
      const Translator::Source source{folder.golden.prompt(row)};
      const Hypothesis found = translator.search_batch({&source, 1}, options).at(0).at(0);
      EXPECT_EQ(found.tokens, folder.golden.found(key, row, format.ends)) << key << ", row " << row;
      if (beam_size > 1) {
        EXPECT_NEAR(found.score, scores[row], 1e-4);
      }
    }
  }
}

TEST(ImportTranslator, SearchesEqualThoseOfTransformers) {
  for (const char* const name :
       {"marian", "marian_two_vocabularies", "bart", "mbart", "m2m_100", "t5", "t5_v1_1", "mt5"}) {
    SCOPED_TRACE(name);
    Folder folder(name, tokens_with(name == std::string("marian_two_vocabularies") ? 59 : 67));
    expect_results(folder);
    folder.make_old();
    expect_results(folder);
  }
}

TEST(ImportTranslator, AResultHasTheScoreOfItsTokens) {
  int compared = 0;  // results that have an end token
  for (const char* const name : {"marian", "bart", "mbart", "t5"}) {
    const Folder folder(name, tokens_with(67));
    const Translator translator = folder.load();
    TranslateOptions options{.search = translator.format().search};
    options.search.max_length = 300;
    for (std::size_t row = 0; row < 2; ++row) {
      const Translator::Source source{folder.golden.prompt(row)};
      const Hypothesis found = translator.search_batch({&source, 1}, options).at(0).at(0);
      if (found.finish != Finish::end) continue;
      const Hypothesis scored =
          examine_score(translator, {source.tokens, found.tokens}, options.search);
      EXPECT_NEAR(scored.score, found.score, 1e-5) << name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 2);
}

// ---- what folders say ---------------------------------------------------------------------------

TEST(ImportTranslator, SettingsOfTheSearch) {
  Folder folder("m2m_100", tokens_with(60));
  folder.write("generation_config.json",
               R"({"num_beams": 3, "max_length": 20, "min_length": 4, "length_penalty": 0.5,
                   "no_repeat_ngram_size": 2, "early_stopping": true, "eos_token_id": [2, 5],
                   "forced_eos_token_id": 2, "bad_words_ids": [[7], [8, 9], [5]],
                   "suppress_tokens": [11], "decoder_start_token_id": 2})");
  const TranslationFormat format = folder.load().format();
  EXPECT_EQ(format.search.beam_size, 3);
  EXPECT_EQ(format.search.max_length, 18);  // without start and end
  EXPECT_EQ(format.search.min_length, 3);
  EXPECT_EQ(format.search.length_penalty, 0.5);
  EXPECT_EQ(format.search.no_repeat_ngram, 2);
  EXPECT_EQ(format.search.stopping, Stopping::first);
  EXPECT_TRUE(format.search.allow_unknown);
  EXPECT_TRUE(format.is_end_certain);
  EXPECT_THAT(format.ends, ElementsAre(2, 5));
  EXPECT_THAT(format.never, ElementsAre(7, 11, 60, 61, 62, 63, 64, 65, 66));
  EXPECT_THAT(format.never_sequences, ElementsAre(Tokens{8, 9}));
  EXPECT_EQ(format.special.padding, 1);
  EXPECT_THAT(format.frame.forced, IsEmpty());

  folder.write("generation_config.json", R"({"early_stopping": "never", "max_new_tokens": 9})");
  EXPECT_EQ(folder.load().format().search.stopping, Stopping::exact);
  EXPECT_EQ(folder.load().format().search.max_length, 9);
  EXPECT_TRUE(folder.load().format().is_cut);
}

TEST(ImportTranslator, SettingsThatHeedDoesNotHaveAreRefused) {
  Folder folder("t5", tokens_with(67));
  const auto complaint = [&](const std::string& settings) {
    folder.write("generation_config.json", settings);
    return error_message([&] { folder.load(); });
  };
  EXPECT_THAT(
      complaint(R"({"num_beam_groups": 2})"),
      testing::AllOf(HasSubstr("generation_config.json"), HasSubstr("\"num_beam_groups\" is 2")));
  EXPECT_THAT(complaint(R"({"forced_decoder_ids": [[1, 2]]})"), HasSubstr("forced_decoder_ids"));
  EXPECT_THAT(complaint(R"({"length_penalty": -1.0})"), HasSubstr("length_penalty"));
  EXPECT_THAT(complaint(R"({"bad_words_ids": [3]})"), HasSubstr("a list of lists of tokens"));
  EXPECT_EQ(complaint(R"({"num_beam_groups": 1, "sequence_bias": null})"), "(no error)");
}

TEST(ImportTranslator, SourcesHaveTheTokensOfTheirModel) {
  const auto read = [](const std::string& name, std::vector<std::string> tokens) {
    return Folder(name, tokens).load().read("w10 w11");
  };
  const auto tokens = tokens_with(67);
  EXPECT_THAT(read("bart", tokens), ElementsAre(0, 10, 11, 2));
  EXPECT_THAT(read("t5", tokens), ElementsAre(10, 11, 2));
  EXPECT_THAT(read("marian", tokens), ElementsAre(10, 11, 2));
  EXPECT_THAT(read("m2m_100", tokens), ElementsAre(10, 11, 2)) << "it has no languages here";
}

TEST(ImportTranslator, LanguagesAreChosen) {
  Folder folder("m2m_100", tokens_with(67, {"deu_Latn", "eng_Latn", "fra_Latn"}));
  folder.write("generation_config.json", R"({"decoder_start_token_id": 2, "max_length": 9})");
  const Translator loaded = folder.load();
  EXPECT_THAT(error_message([&] { loaded.read("w10"); }), HasSubstr("writes 3 languages"));
  const Translator translator = loaded.between("deu_Latn", "fra_Latn");
  EXPECT_EQ(&translator.model(), &loaded.model());
  EXPECT_THAT(translator.read("w10"), ElementsAre(64, 10, 2));
  EXPECT_THAT(translator.read_result("w12"), ElementsAre(66, 12));
  const std::vector<std::string> sentences = {"w10 w11", "w12", ""};
  const auto found =
      translator.translate(sentences, {.search = translator.format().search, .prefix = "w30 w31"});
  for (std::size_t i = 0; i < 2; ++i) {
    const Hypothesis& best = found[i].at(0).hypothesis;
    EXPECT_THAT(Tokens(best.tokens.begin(), best.tokens.begin() + 3), ElementsAre(66, 30, 31));
    EXPECT_THAT(found[i][0].text, testing::StartsWith("w30 w31"));
    EXPECT_THAT(
        std::vector(best.token_log_probabilities.begin(), best.token_log_probabilities.begin() + 3),
        ElementsAre(0.0f, 0.0f, 0.0f));
  }
  EXPECT_EQ(found[2].at(0).text, "");
  EXPECT_THAT(error_message([&] { loaded.between("", "fra"); }), HasSubstr("fra_Latn"));

  folder.write("generation_config.json",
               R"({"decoder_start_token_id": 2, "forced_bos_token_id": 66})");
  EXPECT_THAT(folder.load().read_result(""), ElementsAre(66)) << "the folder names a language";
  EXPECT_THAT(folder.load().between("", "deu_Latn").read_result(""), ElementsAre(64));
}

TEST(ImportTranslator, AlignmentsLeaveOutSpecialTokens) {
  Folder folder("m2m_100", tokens_with(67, {"eng_Latn", "fra_Latn"}));
  const Translator translator = folder.load().between("", "fra_Latn");
  const Hypothesis result{.tokens = translator.read_result("w10 w11 w12")};
  const AlignmentEdges edges = edges_of(translator, result);
  const std::vector<std::int32_t> source = translator.read("w20 w21");
  const Tensor all = source_attention(examine_weights(translator, {source, result.tokens}));
  EXPECT_EQ(all.shape(), (Shape{std::ssize(result.tokens) + 1, std::ssize(source)}));
  EXPECT_EQ(without_ends(all, edges).shape(), (Shape{3, 2}));
}

TEST(ImportTranslator, PublishedModel) {
  HEED_NEED_MODEL("opus-mt-en-fr");
  const Translator translator = load_translator(test::published_model("opus-mt-en-fr"));
  EXPECT_EQ(translator.format().search.beam_size, 4);
  EXPECT_TRUE(translator.format().renormalised);
  const std::vector<std::string> sentences = {"The cat sat on the mat and looked at the rain."};
  EXPECT_EQ(translator.translate(sentences, {.search = translator.format().search})[0][0].text,
            "Le chat s'assit sur le tapis et regarda la pluie.");
}

}  // namespace
}  // namespace heed::import_translator_test

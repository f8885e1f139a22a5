// A text's result has the same bits whatever else is in its batch, and for any number of threads:
// models with packed weights, greedy and with beams.
#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "heed/generation/generate.h"
#include "heed/generation/translator.h"
#include "heed/models/recurrent_translator.h"
#include "heed/nn/pack_weights.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/generation/tiny_translator.h"

namespace heed::any_company_test {
namespace {

std::vector<std::string> sentences() {
  std::vector<std::string> all;
  const std::string text = "abcdefghhgfedcbaabbccddeeffgghhaceg";
  for (std::size_t i = 0; i < 40; ++i) {
    std::string line;
    for (std::size_t j = 0; j < 1 + i * 7 % 30; ++j)
      line += text[(i * 5 + j * (i % 4 + 1)) % text.size()];
    all.push_back(line);
  }
  return all;
}

void expect_same(const std::vector<Translation>& a, const std::vector<Translation>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t n = 0; n < a.size(); ++n) {
    EXPECT_EQ(a[n].hypothesis.tokens, b[n].hypothesis.tokens);
    EXPECT_EQ(a[n].hypothesis.score, b[n].hypothesis.score);
    EXPECT_EQ(a[n].hypothesis.token_log_probabilities, b[n].hypothesis.token_log_probabilities);
  }
}

// All sentences at once with three threads, in small batches, and each alone with one thread.
void expect_same_in_any_company(const Translator& translator, const std::vector<std::string>& all) {
  const int before = num_threads();
  for (const std::int64_t beam : {1, 4}) {
    SCOPED_TRACE(fmt::format("beam {}", beam));
    TranslateOptions options{.search = {.beam_size = beam, .n_best = beam}};
    set_num_threads(3);
    const auto together = translator.translate(all, options);
    options.scheduling.batch_tokens = 40;
    const auto in_parts = translator.translate(all, options);
    set_num_threads(1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(all[i]);
      const auto alone = translator.translate({&all[i], 1}, options);
      expect_same(alone[0], together[i]);
      expect_same(alone[0], in_parts[i]);
    }
  }
  set_num_threads(before);
}

TEST(AnyCompany, TranslationsHaveTheSameBits) {
  for (const PackedForm form :
       {PackedForm::f32, PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
    SCOPED_TRACE(name_of(form));
    Translator translator = test::tiny_translator(test::letters(), test::letters());
    pack_weights(translator.model(), form);
    expect_same_in_any_company(translator, sentences());
  }
}

TEST(AnyCompany, RecurrentTranslationsHaveTheSameBits) {
  const auto letters = test::letters();
  std::vector<std::string> all = sentences();
  all.resize(8);
  for (std::size_t i = 0; i < 2; ++i) all[3] += all[3];  // more positions than a tile has
  for (const char* const attention :
       {"none", "bahdanau", "global score=dot", "luong_general", "luong_location", "local_m",
        "local_p", "multi_head heads=2"}) {
    for (const PackedForm form : {PackedForm::f32, PackedForm::int8}) {
      SCOPED_TRACE(fmt::format("{} {}", attention, name_of(form)));
      RecurrentTranslatorConfig config{.source_vocabulary = letters->size(),
                                       .target_vocabulary = letters->size(),
                                       .padding = letters->special().padding,
                                       .decoder = {.embed = 12, .hidden = 16, .layers = 2}};
      config.encoder_hidden = 8;
      config.decoder.attention = std::nullopt;
      if (std::string_view(attention) != "none") config.decoder.attention = attention;
      Generator generator(3);
      auto model = std::make_unique<RecurrentTranslator>(config, generator);
      model->eval();
      Translator translator(std::move(model), letters, letters);
      pack_weights(translator.model(), form);
      expect_same_in_any_company(translator, all);
    }
  }
}

TEST(AnyCompany, SamplesHaveTheSameBits) {
  const int before = num_threads();
  TextGenerator generator = test::tiny_generator();
  pack_weights(*generator.model, PackedForm::f32);
  GenerateOptions options;
  options.search.n_best = 40;  // enough rows to be shared among threads
  options.search.max_length = 12;
  std::vector<std::vector<GeneratedText>> found;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    found.push_back(generate_text(generator, read_prompt(generator, "abc"), options));
  }
  set_num_threads(before);
  ASSERT_EQ(found[0].size(), found[1].size());
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    EXPECT_EQ(found[0][i].text, found[1][i].text);
    EXPECT_EQ(found[0][i].hypothesis.token_log_probabilities,
              found[1][i].hypothesis.token_log_probabilities);
  }
}

}  // namespace
}  // namespace heed::any_company_test

#include "heed/plot/model_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/classify.h"
#include "heed/generation/examine.h"
#include "heed/generation/fill.h"
#include "heed/models/bag_of_words.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/memory_network.h"
#include "heed/models/pointer_network.h"
#include "heed/models/reader.h"
#include "heed/models/turing_machine.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using heed::test::letters;
using heed::test::tiny_embedder;
using heed::test::tiny_filler;
using heed::test::tiny_translator;
using heed::test::words;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ModelAttention, OfATranslatorWithTheTokensOfEveryStep) {
  const Translator translator = tiny_translator(letters(), letters("uvw"));
  const AttentionView view =
      attention_of(translator, "a b", Hypothesis{.tokens = translator.target()->encode("uv")});
  EXPECT_EQ(view.text, "a b");
  EXPECT_EQ(view.result, "uv");
  ASSERT_EQ(view.parts.size(), 3u);
  EXPECT_THAT(view.parts[0].rows, ElementsAre("a", "␣", "b", "</s>"));
  EXPECT_EQ(view.parts[0].columns, view.parts[0].rows);
  EXPECT_THAT(view.parts[1].rows, ElementsAre("u", "v", "</s>"));
  EXPECT_THAT(view.parts[1].columns, ElementsAre("<s>", "u", "v"));
  EXPECT_EQ(view.parts[2].rows, view.parts[1].rows);
  EXPECT_EQ(view.parts[2].columns, view.parts[0].rows);
  check_view(view);
}

TEST(ModelAttention, IsWhatAlignmentsAreReadOff) {
  const Translator translator = tiny_translator(letters(), letters("uvw"));
  const auto target = translator.target()->encode("wu");
  const AttentionView view = attention_of(translator, "cab", Hypothesis{.tokens = target});
  const auto source = translator.read("cab");
  const ModelWeights weights = examine_weights(translator, {.source = source, .tokens = target});
  EXPECT_EQ(view.alignment.to_vector<float>(), source_attention(weights).to_vector<float>());
  EXPECT_EQ(view.parts[2].layers[0].to_vector<float>(),
            weights.decoder[0].cross.to_vector<float>());
  EXPECT_EQ(view.parts[0].layers[0].to_vector<float>(), weights.encoder[0].self.to_vector<float>());
}

TEST(ModelAttention, RowsOfALanguageModelAreTheNextTokens) {
  const auto tokenizer = letters();
  Generator generator(5);
  LanguageModelConfig config{.vocabulary = tokenizer->size(), .layers = 2};
  config.block.embed = 8;
  config.block.heads = 2;
  auto model = std::make_unique<LanguageModel>(config, generator);
  model->eval();
  const AttentionView view = attention_of(TextGenerator{std::move(model), tokenizer}, "abc");
  ASSERT_EQ(view.parts.size(), 1u);
  EXPECT_EQ(view.parts[0].kind, AttentionKind::decoder);
  EXPECT_THAT(view.parts[0].columns, ElementsAre("a", "b", "c"));
  EXPECT_THAT(view.parts[0].rows, ElementsAre("b", "c", "…"));
  EXPECT_EQ(view.parts[0].layers.size(), 2u);
  check_view(view);
}

TEST(ModelAttention, OfAClassifierWithItsLabel) {
  const auto tokenizer = words("good bad");
  Generator generator(5);
  ClassifierConfig config{.encoder = {.vocabulary = tokenizer->size()}, .classes = 5};
  config.encoder.block.embed = 8;
  config.encoder.block.heads = 2;
  auto model = std::make_unique<Classifier>(config, generator);
  model->eval();
  const TextClassifier classifier{std::move(model), tokenizer, {"a", "b", "c", "d", "e"}};
  const AttentionView view = attention_of(classifier, "bad good");
  const std::vector<ReadText> read = {read_text(classifier, {"bad good"}, 100)};
  const std::size_t likeliest = by_probability(classify(classifier, read)[0])[0];
  EXPECT_EQ(view.result, classifier.labels[likeliest]);
  EXPECT_EQ(view.parts[0].kind, AttentionKind::encoder);
  EXPECT_THAT(view.parts[0].rows, ElementsAre("<s>", "bad", "good"));
  check_view(view);
}

TEST(ModelAttention, OfASentenceEncoder) {
  const TextEmbedder embedder = tiny_embedder();
  const AttentionView view = attention_of(embedder, "cab");
  EXPECT_EQ(view.result, "");
  ASSERT_EQ(view.parts.size(), 1u);
  EXPECT_EQ(view.parts[0].kind, AttentionKind::encoder);
  EXPECT_THAT(view.parts[0].rows, ElementsAre("<s>", "c", "a", "b"));
  EXPECT_EQ(view.parts[0].columns, view.parts[0].rows);
  check_view(view);
}

TEST(ModelAttention, OfAMaskedModelWithItsText) {
  const TextFiller filler = tiny_filler();  // its mask is "h"
  const AttentionView view = attention_of(LoadedModel(tiny_filler()), "chb");
  EXPECT_EQ(view.result, fill_texts(filler, std::vector<std::string>{"chb"})[0].text);
  EXPECT_THAT(view.parts[0].rows, ElementsAre("<s>", "c", "h", "b"));
  check_view(view);
  EXPECT_EQ(attention_of(filler, "cab").result, "") << "nothing is masked";
}

// A model of any task; a translator translates first, and its view has the weights of that search.
TEST(ModelAttention, OfALoadedModel) {
  const LoadedModel model = tiny_translator(letters(), letters("uvw"));
  const auto& translator = std::get<Translator>(model);
  const AttentionView view = attention_of(model, "cab", SearchOptions{.min_length = 2});
  const Hypothesis found =
      translator
          .translate(std::vector<std::string>{"cab"},
                     {.search = {.min_length = 2}, .observed = ObservedWeights::all})[0][0]
          .hypothesis;
  EXPECT_EQ(view.result, translator.target()->decode(found.tokens));
  EXPECT_EQ(view.parts[1].layers[0].to_vector<float>(),
            found.weights->decoder[0].self.to_vector<float>());
  EXPECT_EQ(view.parts[2].layers[0].to_vector<float>(),
            found.weights->decoder[0].cross.to_vector<float>());
  check_view(view);
}

TEST(ModelAttention, OfAModelThatPoints) {
  Generator generator(3);
  const ElementPointer pointer{std::make_unique<PointerNetwork>(
      PointerNetworkConfig{.features = 2, .embed = 4, .hidden = 5, .glimpses = 1}, generator)};
  pointer.model->eval();
  const AttentionView view = attention_of(pointer, "0 1 2 3 4 5");
  ASSERT_EQ(view.parts.size(), 1u);
  const AttentionPart& part = view.parts[0];
  EXPECT_THAT(part.columns, ElementsAre("end", "1", "2", "3"));
  ASSERT_EQ(part.layers.size(), 2u) << "the glimpse and the pointer";
  EXPECT_EQ(part.layers[1].size(1), std::ssize(part.rows)) << "a row for each position";
  EXPECT_EQ(part.rows.back(), "end");
}

TEST(ModelAttention, OfATuringMachineAreItsHeads) {
  const BitMachine machine{std::make_unique<TuringMachine>(
      TuringMachineConfig{.inputs = 3,
                          .outputs = 2,
                          .machine = {.slots = 5, .width = 3, .read_heads = 2, .hidden = 4}})};
  const AttentionView view = attention_of(machine, "101 001 output 10 11 00");
  ASSERT_EQ(view.parts.size(), 2u);
  EXPECT_EQ(view.parts[0].layers[0].shape(), (Shape{1, 5, 5})) << "one write head";
  EXPECT_EQ(view.parts[1].layers[0].shape(), (Shape{2, 5, 5})) << "two read heads";
  EXPECT_EQ(view.parts[0].rows.size(), 5u) << "two steps that read, three that write";
  EXPECT_THAT(error_message([&] { attention_of(machine, "10"); }),
              HasSubstr("the sequence has the vector \"10\" of 2 bits: there must be 3"));
}

TEST(ModelAttention, OfAReaderToTheWordsOfThePassage) {
  const auto tokenizer = words("red dog runs XXXXX");
  for (const ReaderAttention attention : {ReaderAttention::over_attention, ReaderAttention::sum}) {
    const ClozeReader reader{std::make_unique<Reader>(ReaderConfig{.vocabulary = tokenizer->size(),
                                                                   .embed = 4,
                                                                   .hidden = 3,
                                                                   .attention = attention,
                                                                   .dropout = 0.0}),
                             tokenizer};
    const AttentionView view = attention_of(reader, "red dog runs ||| the XXXXX");
    ASSERT_EQ(view.parts.size(), 1u);
    EXPECT_THAT(view.parts[0].columns, ElementsAre("red", "dog", "runs"));
    EXPECT_THAT(view.parts[0].columns, testing::Contains(view.result));
    if (attention == ReaderAttention::sum) {
      EXPECT_THAT(view.parts[0].rows, ElementsAre("the XXXXX"));
    } else {
      EXPECT_THAT(view.parts[0].rows, ElementsAre("the", "XXXXX"));
    }
    check_view(view);
    EXPECT_THAT(error_message([&] { attention_of(reader, "red dog"); }), HasSubstr("has no |||"));
  }
}

TEST(ModelAttention, OfAMemoryNetworkInEachHop) {
  const auto tokenizer = words("mary left where is");
  const StoryAnswerer answerer{
      std::make_unique<MemoryNetwork>(MemoryNetworkConfig{
          .vocabulary = tokenizer->size(), .padding = 3, .embed = 4, .hops = 2, .sentences = 2}),
      tokenizer};
  const AttentionView view = attention_of(answerer, "A. Mary left. John came. Where is Mary?");
  ASSERT_EQ(view.parts.size(), 1u);
  EXPECT_THAT(view.parts[0].columns, ElementsAre("mary left", "john came")) << "the last two";
  EXPECT_THAT(view.parts[0].rows, ElementsAre("where is mary"));
  EXPECT_EQ(view.parts[0].layers.size(), 2u);
  check_view(view);
  EXPECT_THAT(error_message([&] { attention_of(answerer, "Where?"); }), HasSubstr("give a story"));
}

TEST(ModelAttention, AModelWithoutAttentionHasNone) {
  const auto tokenizer = words("good bad");
  Generator generator(5);
  const TextClassifier classifier{
      std::make_unique<BagOfWords>(BagOfWordsConfig{.vocabulary = tokenizer->size(), .classes = 2},
                                   generator),
      tokenizer,
      {"a", "b"}};
  EXPECT_THAT(error_message([&] { attention_of(classifier, "bad good"); }),
              HasSubstr("a bag_of_words has no attention to show"));
}

TEST(ModelAttention, ASentenceNeedsTokens) {
  const Translator translator = tiny_translator(letters(), letters());
  EXPECT_THAT(error_message([&] { attention_of(translator, "", Hypothesis{}); }),
              HasSubstr("the sentence has no tokens"));
}

TEST(ModelAttention, BadBytesAreShownAsSuch) {
  const Translator translator = tiny_translator(letters(), letters());
  const AttentionView view = attention_of(translator, "a\xff", Hypothesis{});
  EXPECT_EQ(view.text, "a\uFFFD");
  EXPECT_THAT(view.parts[0].rows, ElementsAre("a", "<unk>", "</s>"));
  EXPECT_THAT(view.parts[2].rows, ElementsAre("</s>"));
}

}  // namespace
}  // namespace heed::plot

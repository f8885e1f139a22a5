// Folders of Hugging Face that hold encoders: loaded as the task that they are for, used, saved as
// folders of heed's own; and published models, where they are present.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/classify.h"
#include "heed/generation/embed.h"
#include "heed/generation/fill.h"
#include "heed/generation/foreign_folder.h"
#include "heed/generation/model_folder.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/tensor/create.h"
#include "tests/generation/hf_encoder_folder.h"
#include "tests/models/importers/encoder_case.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::import_encoders_test {
namespace {

using test::HfEncoderFolder;
using testing::HasSubstr;

const std::vector<std::string> kTexts = {"a dog runs", "the cat sleeps"};

constexpr std::string_view kModules =
    R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"path": "2_Dense", "type": "sentence_transformers.models.Dense"},
        {"path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}])";

// ---- sentence encoders --------------------------------------------------------------------------

TEST(ImportEncoders, ABareModelGivesMeans) {
  const HfEncoderFolder folder("bert");
  const TextEmbedder embedder = load_text_embedder(folder.path());
  EXPECT_EQ(embedder.frame, TextFrame::special);
  const std::vector<ReadText> read = {read_text(embedder, kTexts[0])};
  EXPECT_THAT(read[0].ids, testing::ElementsAre(3, 5, 6, 7, 4));
  const NoGrad no_grad;
  const Tensor states = embedder.model->states(batch_of(read, 0));
  EXPECT_LE(test::max_relative_error(embed(embedder, read), pool(states, {}, Pooling::mean)), 1e-6);
}

TEST(ImportEncoders, FilesOfSentenceTransformersSayHow) {
  HfEncoderFolder folder("bert_masked_lm");
  folder.write("modules.json", kModules);
  folder.write("1_Pooling/config.json", R"({"pooling_mode": "cls"})");
  folder.write("2_Dense/config.json",
               R"({"in_features": 16, "out_features": 3, "bias": true,
                   "activation_function": "torch.nn.modules.activation.Tanh"})");
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 4, "do_lower_case": true})");
  const Tensor weight = randn({3, 16}), bias = randn({3});
  const std::vector<NamedTensor> tensors = {{"linear.weight", weight}, {"linear.bias", bias}};
  save_tensors(tensors, folder.path() / "2_Dense" / "model.safetensors");
  const TextEmbedder embedder = load_text_embedder(folder.path());
  EXPECT_EQ(embedder.model->max_length(), 4);
  EXPECT_EQ(embedder.model->vector_size(), 3);
  const NoGrad no_grad;
  const std::vector<ReadText> read = {read_text(embedder, kTexts[0])};
  EXPECT_THAT(read[0].ids, testing::ElementsAre(3, 5, 6, 4));
  const Tensor first = pool(embedder.model->states(batch_of(read, 0)), {}, Pooling::first);
  const Linear dense(Weight(weight), bias);
  EXPECT_LE(test::max_relative_error(embed(embedder, read),
                                     unit_rows(activate(Activation::tanh, dense(first)))),
            1e-5);
}

TEST(ImportEncoders, LowerCaseMustBeThatOfTheTokenizer) {
  HfEncoderFolder folder("bert");
  folder.write("modules.json", R"([{"path": "", "type": "a.Transformer"},
                                   {"path": "1_Pooling", "type": "a.Pooling"}])");
  folder.write("sentence_bert_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(error_message([&] { load_text_embedder(folder.path()); }), "(no error)");
  std::string text(test::kWordTokenizer);
  text.replace(text.find(R"({"type": "Lowercase"})"), 21, "null");
  folder.write("tokenizer.json", text);
  EXPECT_THAT(error_message([&] { load_text_embedder(folder.path()); }),
              HasSubstr("\"do_lower_case\""));
}

// ---- the other tasks ----------------------------------------------------------------------------

TEST(ImportEncoders, AClassifierHasLabelsAndScoring) {
  HfEncoderFolder folder("bert_classifier");
  const TextClassifier classifier = load_text_classifier(folder.path());
  EXPECT_EQ(classifier.labels, (std::vector<std::string>{"negative", "neutral", "positive"}));
  EXPECT_EQ(classifier.scoring, Scoring::softmax);
  const auto single = classify_texts(classifier, kTexts);
  EXPECT_NEAR(single[0][0] + single[0][1] + single[0][2], 1.0f, 1e-6f);
  const std::vector<TextOrPair> pair = {{"a dog", "runs"}};
  EXPECT_NE(classify_texts(classifier, std::span<const TextOrPair>(pair))[0], single[0]);

  folder.edit_config("\"model_type\"",
                     "\"problem_type\": \"multi_label_classification\", \"model_type\"");
  const TextClassifier several = load_text_classifier(folder.path());
  EXPECT_EQ(several.scoring, Scoring::sigmoid);
  const auto each = classify_texts(several, kTexts);
  folder.edit_config("multi_label_classification", "regression");
  const TextClassifier regression = load_text_classifier(folder.path());
  EXPECT_EQ(regression.scoring, Scoring::none);
  const auto numbers = classify_texts(regression, kTexts);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(each[0][c], 1.0f / (1.0f + std::exp(-numbers[0][c])), 1e-6f);
  }
}

TEST(ImportEncoders, AMaskedModelKnowsItsMask) {
  HfEncoderFolder folder("bert_masked_lm");
  EXPECT_EQ(load_text_filler(folder.path()).mask, 2);
  const std::vector<std::string> texts = {"a [MASK] runs"};
  const auto found = fill_texts(load_text_filler(folder.path()), texts, {.top_k = 100})[0];
  EXPECT_EQ(found.masks[0].size(), 11U) << "rows of the matrix beyond the tokenizer are no tokens";
  folder.write("tokenizer_config.json", R"({"mask_token": {"content": "dog"}})");
  EXPECT_EQ(load_text_filler(folder.path()).mask, 6);
  folder.write("tokenizer_config.json", R"({"mask_token": "cat"})");
  EXPECT_EQ(load_text_filler(folder.path()).mask, 8);
}

TEST(ImportEncoders, TheTaskMustFit) {
  const HfEncoderFolder folder("bert");
  EXPECT_THAT(error_message([&] { load_text_filler(folder.path()); }),
              HasSubstr("a model for task \"embed\" (sentence_encoder), not for \"fill\""));
  EXPECT_TRUE(std::holds_alternative<TextEmbedder>(load_model(folder.path())));
}

TEST(ImportEncoders, AreSavedAsFoldersOfTheirOwn) {
  const TempDir embedder, classifier, filler;
  HfEncoderFolder bert("bert"), classes("bert_classifier"), masked("bert_masked_lm");
  classes.edit_config("\"model_type\"",
                      "\"problem_type\": \"multi_label_classification\", \"model_type\"");
  save_model(load_text_embedder(bert.path()), embedder.path());
  save_model(load_text_classifier(classes.path()), classifier.path());
  save_model(load_text_filler(masked.path()), filler.path());
  EXPECT_TRUE(test::same_bits(embed_texts(load_text_embedder(embedder.path()), kTexts),
                              embed_texts(load_text_embedder(bert.path()), kTexts)));
  EXPECT_EQ(classify_texts(load_text_classifier(classifier.path()), kTexts),
            classify_texts(load_text_classifier(classes.path()), kTexts));
  const std::vector<std::string> texts = {"a [MASK] runs"};
  EXPECT_EQ(fill_texts(load_text_filler(filler.path()), texts)[0].text,
            fill_texts(load_text_filler(masked.path()), texts)[0].text);
}

// ---- published models ---------------------------------------------------------------------------

// Expected cosines and probabilities are those of sentence-transformers 6.2 and transformers 5.22.
TEST(PublishedEncoders, MiniLm) {
  HEED_NEED_MODEL("all-minilm-l6-v2");
  const TextEmbedder embedder = load_text_embedder(test::published_model("all-minilm-l6-v2"));
  EXPECT_EQ(embedder.model->max_length(), 256);
  const std::vector<std::string> texts = {"A person has lunch.", "A man is eating food.",
                                          "The girl is carrying a baby."};
  const Tensor v = embed_texts(embedder, texts);
  const auto row = [&](std::size_t i) { return v.values<float>().subspan(i * 384, 384); };
  EXPECT_NEAR(cosine(row(0), row(1)), 0.523461, 1e-5);
  EXPECT_NEAR(cosine(row(0), row(2)), 0.014362, 1e-5);
}

TEST(PublishedEncoders, Mpnet) {
  HEED_NEED_MODEL("all-mpnet-base-v2");
  const TextEmbedder embedder = load_text_embedder(test::published_model("all-mpnet-base-v2"));
  const std::vector<std::string> texts = {"A person has lunch.", "A man is eating food."};
  const Tensor v = embed_texts(embedder, texts);
  const auto row = [&](std::size_t i) { return v.values<float>().subspan(i * 768, 768); };
  EXPECT_NEAR(cosine(row(0), row(1)), 0.654568, 1e-5);
}

TEST(PublishedEncoders, BgeSmallZh) {
  HEED_NEED_MODEL("bge-small-zh-v1.5");
  const TextEmbedder embedder = load_text_embedder(test::published_model("bge-small-zh-v1.5"));
  const std::vector<std::string> texts = {"今天天气很好。", "外面阳光明媚。", "我喜欢吃苹果。"};
  const Tensor v = embed_texts(embedder, texts, {.pooling = Pooling::first, .normalize = true});
  const auto row = [&](std::size_t i) { return v.values<float>().subspan(i * 512, 512); };
  EXPECT_NEAR(cosine(row(0), row(1)), 0.594597, 1e-5);
  EXPECT_NEAR(cosine(row(0), row(2)), 0.426173, 1e-5);
}

TEST(PublishedEncoders, Bert) {
  HEED_NEED_MODEL("bert-base-uncased");
  const TextFiller filler = load_text_filler(test::published_model("bert-base-uncased"));
  const std::vector<std::string> texts = {"Paris is the [MASK] of France."};
  const FilledText found = fill_texts(filler, texts)[0];
  EXPECT_EQ(found.text, "paris is the capital of france.");
  EXPECT_EQ(found.masks[0][0].token, "capital");
  EXPECT_NEAR(found.masks[0][0].probability, 0.996933, 1e-5);
}

}  // namespace
}  // namespace heed::import_encoders_test

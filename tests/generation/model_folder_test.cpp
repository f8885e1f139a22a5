// Model folders: what tells one kind from another, models of every task saved and loaded, parts
// that do not belong together, and folders that former versions have written.
#include "heed/generation/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/io/file.h"
#include "heed/models/bag_of_words.h"
#include "heed/tensor/create.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::model_folder_test {
namespace {

using test::letters;
using test::tiny_classifier;
using test::tiny_embedder;
using test::tiny_filler;
using test::tiny_generator;
using test::tiny_translator;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::size_t kMost = 1 << 20;

// Replaces a part of config.json, which must occur in it.
void edit_config(const TempDir& dir, const std::string& from, const std::string& to) {
  std::string text = io::read_file(dir / "config.json", kMost);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, text.npos) << from << " in " << text;
  io::write_file(dir / "config.json", text.replace(at, from.size(), to));
}

// Removes the line of a key from config.json.
void remove_key(const TempDir& dir, const std::string& key) {
  std::string text = io::read_file(dir / "config.json", kMost);
  const std::size_t at = text.find(fmt::format("\"{}\":", key));
  ASSERT_NE(at, text.npos) << key << " in " << text;
  const std::size_t begin = text.rfind('\n', at), end = text.find('\n', at);
  text.erase(begin, end - begin);
  // The last line of a table has no comma.
  const std::size_t comma = text.rfind(',', begin), next = text.find_first_not_of(" \n", begin);
  if (text[next] == '}' && text.find_first_not_of(" \n", comma + 1) == next) text.erase(comma, 1);
  io::write_file(dir / "config.json", text);
}

// ---- kinds --------------------------------------------------------------------------------------

TEST(ModelFolder, TellsItsKind) {
  const TempDir dir;
  for (const ModelKind& kind : model_kinds()) {
    io::write_file(dir / "config.json", fmt::format(R"({{"kind": "{}", "more": 1}})", kind.name));
    EXPECT_EQ(&kind_of_model(dir.path()), &kind);
  }
  io::write_file(dir / "config.json", R"({"kind": "translator"})");
  EXPECT_EQ(kind_of_model(dir.path()).name, "transformer") << "its former name";
}

TEST(ModelFolder, IsFoundInATrainingRun) {
  const TempDir dir;
  EXPECT_EQ(find_model(dir.path()), dir.path());
  const auto add = [&](const char* name) {
    std::filesystem::create_directory(dir / name);
    io::write_file(dir / name / "config.json", "{}");
  };
  add("checkpoint_last");
  EXPECT_EQ(find_model(dir.path()), dir / "checkpoint_last");
  add("checkpoint_best");
  EXPECT_EQ(find_model(dir.path()), dir / "checkpoint_best");
  io::write_file(dir / "config.json", "{}");
  EXPECT_EQ(find_model(dir.path()), dir.path());
}

TEST(ModelFolder, SaysWhatIsNotOne) {
  const TempDir dir;
  EXPECT_THAT(error_message([&] { kind_of_model(dir.path()); }), HasSubstr("has no config.json"));
  EXPECT_THAT(error_message([&] { load_model(dir / "absent"); }), HasSubstr("there is no "));
  for (const char* const text : {"[]", "{}", R"({"kind": 3})"}) {
    io::write_file(dir / "config.json", text);
    EXPECT_THAT(error_message([&] { kind_of_model(dir.path()); }), HasSubstr("no \"kind\""))
        << text;
  }
  io::write_file(dir / "config.json", "{");
  EXPECT_THAT(error_message([&] { kind_of_model(dir.path()); }), HasSubstr("config.json"));
  io::write_file(dir / "config.json", R"({"kind": "bert"})");
  EXPECT_THAT(error_message([&] { load_model(dir.path()); }),
              HasSubstr("\"bert\": there are transformer, recurrent, convolutional, "));
}

// ---- saved and loaded ---------------------------------------------------------------------------

TEST(ModelFolder, LoadsTheModelOfTheTask) {
  const TempDir translator, generator, classifier, embedder, filler;
  save_model(tiny_translator(letters(), letters("xyz")), translator.path());
  save_model(tiny_generator(), generator.path());
  save_model(tiny_classifier(), classifier.path());
  save_model(tiny_embedder(), embedder.path());
  save_model(tiny_filler(), filler.path());
  EXPECT_TRUE(std::holds_alternative<TextEmbedder>(load_model(embedder.path())));
  EXPECT_TRUE(std::holds_alternative<TextFiller>(load_model(filler.path())));
  EXPECT_EQ(load_text_filler(filler.path()).mask, tiny_filler().mask);
  EXPECT_TRUE(std::holds_alternative<Translator>(load_model(translator.path())));
  EXPECT_TRUE(std::holds_alternative<TextGenerator>(load_model(generator.path())));
  EXPECT_TRUE(std::holds_alternative<TextClassifier>(load_model(classifier.path())));
  EXPECT_THAT(error_message([&] { load_text_classifier(translator.path()); }),
              HasSubstr("a model for task \"translate\" (transformer), not for \"classify\""));
  EXPECT_THAT(error_message([&] { load_translator(generator.path()); }),
              HasSubstr("a model for task \"language\" (language_model), not for \"translate\""));
}

TEST(ModelFolder, PackedModelsAreSavedInTheirForm) {
  for (const PackedForm form :
       {PackedForm::f32, PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
    const TempDir dir, again;
    save_model(tiny_generator(), dir.path());
    const TextGenerator packed = load_text_generator(dir.path(), form);
    save_model(packed, again.path());
    EXPECT_EQ(stored_form(again.path()), form == PackedForm::f32 ? WeightForm() : form);
    const TextGenerator loaded = load_text_generator(again.path(), form);
    const NoGrad no_grad;
    const Tensor ids = from_values<std::int32_t>({1, 4, 5}, {1, 3});
    EXPECT_TRUE(test::same_bits((*loaded.model)(ids), (*packed.model)(ids)));
    EXPECT_EQ(loaded.model->parameter_count(), packed.model->parameter_count());
  }
}

TEST(ModelFolder, FindsTheBestCheckpointOfARun) {
  const TempDir run;
  for (const char* const name : {"checkpoint_last", "checkpoint_best"}) {
    std::filesystem::create_directory(run / name);
  }
  save_model(tiny_generator(), run / "checkpoint_last");
  save_model(tiny_classifier(), run / "checkpoint_best");
  EXPECT_TRUE(std::holds_alternative<TextClassifier>(load_model(run.path())));
}

TEST(ModelFolder, KeepsAModelWithoutAttention) {
  const TempDir dir;
  const auto tokenizer = letters();
  Generator random(4);
  TextClassifier before{
      std::make_unique<BagOfWords>(
          BagOfWordsConfig{.vocabulary = tokenizer->size(), .classes = 2, .embed = 6}, random),
      tokenizer,
      {"yes", "no"}};
  save_model(before, dir.path());
  const auto loaded = load_model(dir.path());
  const auto& after = std::get<TextClassifier>(loaded);
  EXPECT_EQ(after.model->choice().kind().name, "bag_of_words");
  EXPECT_EQ(after.labels, before.labels);
  const NoGrad no_grad;
  before.model->eval();
  const Tensor ids = ids_of(tokenizer->encode("a bad cab"), 1);
  EXPECT_TRUE(test::same_bits((*after.model)({ids}), (*before.model)({ids})));
}

TEST(ModelFolder, HasTheFilesOfItsTokenizers) {
  const auto shared = letters(), other = test::words("a dog runs");
  const TempDir one, two, three;
  save_model(tiny_translator(shared, shared), one.path());
  save_model(tiny_translator(shared, other), two.path());
  save_model(tiny_generator(), three.path());
  const std::string name = shared->files()[0].name;
  EXPECT_THAT(one.names(), UnorderedElementsAre("config.json", "model.safetensors", name));
  EXPECT_THAT(two.names(),
              UnorderedElementsAre("config.json", "model.safetensors", "source_" + name,
                                   "target_" + other->files()[0].name));
  EXPECT_THAT(three.names(), UnorderedElementsAre("config.json", "model.safetensors", name));
  const Translator read = load_translator(two.path());
  EXPECT_EQ(read.source()->encode("a cab"), shared->encode("a cab"));
  EXPECT_EQ(read.target()->encode("a dog"), other->encode("a dog"));
}

// A folder that was written before texts could be read with special tokens.
TEST(ModelFolder, LoadsAClassifierOfTheFormerVersion) {
  const TempDir dir;
  const TextClassifier before = tiny_classifier();
  save_model(before, dir.path());
  for (const char* const key :
       {"scoring", "frame", "pooling", "head", "types", "scaled_embeddings", "embedding_norm"}) {
    remove_key(dir, key);
  }
  const TextClassifier after = load_text_classifier(dir.path());
  EXPECT_EQ(after.frame, TextFrame::begin);
  EXPECT_EQ(after.scoring, Scoring::softmax);
  const NoGrad no_grad;
  const Tensor ids = ids_of(before.tokenizer->encode("a bad cab"), 1);
  EXPECT_TRUE(test::same_bits((*after.model)({ids}), (*before.model)({ids})));
}

// ---- parts that do not belong together ----------------------------------------------------------

TEST(ModelFolder, RefusesAMaskThatIsNoToken) {
  const TempDir dir;
  save_model(tiny_filler(), dir.path());
  edit_config(dir, fmt::format("\"mask\": {}", tiny_filler().mask), "\"mask\": 1000");
  EXPECT_THAT(error_message([&] { load_model(dir.path()); }), HasSubstr("the mask is token 1000"));
}

TEST(ModelFolder, RefusesLabelsOfOtherClasses) {
  const TempDir dir;
  save_model(tiny_classifier(), dir.path());
  edit_config(dir, "\"ugly\"", "\"ugly\", \"fine\"");
  for (const auto& load : {std::function<void()>([&] { load_model(dir.path()); }),
                           std::function<void()>([&] { load_text_classifier(dir.path()); })}) {
    EXPECT_THAT(error_message(load), HasSubstr("3 classes, and there are 4 labels"));
    EXPECT_THAT(error_message(load), HasSubstr(dir.path().string()));
  }
}

TEST(ModelFolder, RefusesTheTokenizerOfAnotherModel) {
  const std::string file = letters()->files()[0].name, other = letters("ab")->files()[0].content;
  const TempDir generator, classifier, translator;
  save_model(tiny_generator(), generator.path());
  save_model(tiny_classifier(), classifier.path());
  save_model(tiny_translator(letters(), letters("xyz")), translator.path());
  io::write_file(generator / file, other);
  io::write_file(classifier / file, other);
  io::write_file(translator / ("source_" + file), other);
  for (const TempDir* const dir : {&generator, &classifier}) {
    EXPECT_THAT(error_message([&] { load_model(dir->path()); }),
                HasSubstr(fmt::format("the model has a vocabulary of {}, its tokenizer {} tokens",
                                      letters()->size(), letters("ab")->size())));
  }
  EXPECT_THAT(error_message([&] { load_model(translator.path()); }),
              HasSubstr("they do not belong together"));
}

TEST(ModelFolder, RefusesParametersOfAnotherModel) {
  const TempDir dir;
  save_model(tiny_generator(), dir.path());
  edit_config(dir, "\"layers\": 2", "\"layers\": 3");
  EXPECT_THAT(error_message([&] { load_model(dir.path()); }), HasSubstr("decoder.layers.2"));
  std::filesystem::remove(dir / "model.safetensors");
  EXPECT_THAT(error_message([&] { load_model(dir.path()); }), HasSubstr("model.safetensors"));
}

// Labels may be many: what save_model() writes, load_model() reads.
TEST(ModelFolder, ReadsALargeConfig) {
  const TempDir dir;
  TextClassifier classifier = tiny_classifier();
  classifier.labels[0] = std::string(2 << 20, 'x');
  save_model(classifier, dir.path());
  EXPECT_EQ(load_text_classifier(dir.path()).labels, classifier.labels);
}

// A config must not make heed take memory for sizes that the file of weights cannot hold.
TEST(ModelFolder, RefusesSizesThatTheFileCannotHold) {
  const auto message = [](const std::string& from, const std::string& to) {
    const TempDir dir;
    save_model(tiny_generator(), dir.path());
    edit_config(dir, from, to);
    return error_message([&] { load_model(dir.path()); });
  };
  EXPECT_THAT(message("\"layers\": 2", "\"layers\": 1000000000"), HasSubstr("from 1 to 10000"));
  EXPECT_THAT(message("\"layers\": 2", "\"layers\": 10000"),
              HasSubstr("far larger than model.safetensors"));
  const std::string vocabulary = fmt::format("\"vocabulary\": {}", letters()->size());
  EXPECT_THAT(message(vocabulary, "\"vocabulary\": 2000000000"), HasSubstr("far larger"));
  EXPECT_THAT(message(vocabulary, "\"vocabulary\": 4611686018427387904"),
              HasSubstr("more elements than memory can"));
  EXPECT_THAT(message("learned max_length=16", "learned max_length=10000000000"),
              HasSubstr("far larger"));
  EXPECT_THAT(message("\"head_size\": 0", "\"head_size\": 1000000"), HasSubstr("far larger"));
}

// ---- folders of former versions -----------------------------------------------------------------

TEST(ModelFolder, LoadsATranslatorOfTheFormerVersion) {
  const TempDir dir;
  const auto tokenizer = letters();
  TransformerConfig config = test::tiny_config(tokenizer, tokenizer);
  config.block.norm = {.first = true, .final = false};
  config.block.attention_dropout = 0.25;
  config.decoder_attention = "restricted left=3 right=0";
  config.block.positions = "shaw clip=4";
  const Translator before = tiny_translator(config, tokenizer, tokenizer);
  save_model(before, dir.path());
  const std::string file = tokenizer->files()[0].name;
  io::write_file(dir / "config.json",
                 fmt::format(R"({{
  "kind": "translator",
  "source_tokenizer": "{0}",
  "target_tokenizer": "{0}",
  "model": {{
    "source_vocabulary": {1},
    "target_vocabulary": {1},
    "padding": {2},
    "embed": 16,
    "heads": 2,
    "hidden": 20,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "activation": "relu",
    "norm_first": true,
    "final_norm": false,
    "dropout": 0.1,
    "attention_dropout": 0.25,
    "activation_dropout": null,
    "tied": "three",
    "encoder_attention": "multi_head",
    "decoder_attention": "restricted left=3 right=0",
    "cross_attention": "multi_head",
    "positions": "shaw clip=4"
  }}
}})",
                             file, tokenizer->size(), tokenizer->special().padding));
  const LoadedModel loaded = load_model(dir.path());
  const auto& after = std::get<Translator>(loaded);
  const std::vector<std::string> sentences = {"abc", "hgfedcba abc de", "bad cab"};
  const auto expected = before.translate(sentences), found = after.translate(sentences);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_EQ(found[i][0].hypothesis.tokens, expected[i][0].hypothesis.tokens);
    EXPECT_EQ(found[i][0].hypothesis.score, expected[i][0].hypothesis.score);
  }
  const auto& read = dynamic_cast<const Transformer&>(after.model()).config();
  EXPECT_EQ(read.block.attention_dropout, 0.25);
  EXPECT_FALSE(read.block.activation_dropout.has_value());
  EXPECT_EQ(read.encoder_attention, AttentionChoice("multi_head"));

  const TempDir again;
  save_model(after, again.path());
  EXPECT_EQ(kind_of_model(again.path()).name, "transformer");
  EXPECT_THAT(io::read_file(again / "config.json", kMost), HasSubstr("\"kind\": \"transformer\""));
}

TEST(ModelFolder, LoadsALanguageModelOfTheFormerVersion) {
  const TempDir dir;
  const TextGenerator before = tiny_generator();
  save_model(before, dir.path());
  io::write_file(dir / "config.json",
                 fmt::format(R"({{
  "kind": "language_model",
  "tokenizer": "{}",
  "model": {{
    "vocabulary": {},
    "embed": 16,
    "heads": 2,
    "hidden": 0,
    "layers": 2,
    "activation": "gelu",
    "norm_first": true,
    "bias": false,
    "dropout": 0.1,
    "tied": true,
    "attention": "multi_head",
    "positions": "learned max_length=16"
  }}
}})",
                             before.tokenizer->files()[0].name, before.tokenizer->size()));
  const TextGenerator after = load_text_generator(dir.path());
  const NoGrad no_grad;
  const Tensor ids = ids_of(before.tokenizer->encode("a bad cab"), 1);
  EXPECT_TRUE(test::same_bits((*after.model)({ids}), (*before.model)({ids})));
}

}  // namespace
}  // namespace heed::model_folder_test

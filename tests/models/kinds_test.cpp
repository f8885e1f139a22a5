// The list of models: names, tasks, defaults, messages, and a model of each kind from its config.
#include "heed/models/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "heed/io/config.h"
#include "heed/models/recurrent_attention.h"
#include "heed/models/resnet.h"
#include "heed/models/transformer.h"
#include "tests/support/error_message.h"

namespace heed::kinds_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ModelKinds, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const ModelKind& kind : model_kinds()) {
    EXPECT_FALSE(kind.name.empty());
    EXPECT_FALSE(kind.what.empty());
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    if (kind.former_name.empty()) continue;
    EXPECT_TRUE(names.insert(kind.former_name).second) << kind.name;
  }
}

TEST(ModelKinds, EveryTaskHasADefault) {
  for (const auto& [task, name] : enum_names(Task{})) {
    const ModelKind& kind = choose_model_kind(task, "");
    EXPECT_EQ(kind.task, task) << name;
    const auto first = std::ranges::find(model_kinds(), task, &ModelKind::task);
    EXPECT_EQ(&kind, &*first) << name;
  }
}

TEST(ModelKinds, AreFoundByName) {
  for (const ModelKind& kind : model_kinds()) {
    EXPECT_EQ(find_model_kind(kind.name), &kind);
    EXPECT_EQ(&choose_model_kind(kind.task, kind.name), &kind);
  }
  ASSERT_NE(find_model_kind("translator"), nullptr);
  EXPECT_EQ(find_model_kind("translator")->name, "transformer") << "its former name";
  EXPECT_EQ(find_model_kind(""), nullptr);
  EXPECT_EQ(find_model_kind("no such kind"), nullptr);
}

TEST(ModelKinds, WrongNamesSayWhatThereIs) {
  const auto complaint = [](Task task, const char* name) {
    return error_message([&] { choose_model_kind(task, name); });
  };
  EXPECT_EQ(complaint(Task::classify, "bag_of_wrods"),
            "[model] there is no kind \"bag_of_wrods\" for task \"classify\": did you mean "
            "\"bag_of_words\"?");
  EXPECT_EQ(complaint(Task::classify, "zzzzzzzz"),
            "[model] there is no kind \"zzzzzzzz\" for task \"classify\": there are classifier, "
            "bag_of_words, self_attentive");
  EXPECT_EQ(complaint(Task::translate, "classifier"),
            "[model] kind \"classifier\" is for task \"classify\", not for \"translate\"");
  EXPECT_THAT(complaint(Task::language, "translator"),
              AllOf(HasSubstr("\"translator\""), HasSubstr("\"translate\"")));
}

// A config of the kind, with values that are not the defaults.
ModelChoice small_choice(const ModelKind& kind) {
  ModelChoice choice(kind);
  choice.config().set_sizes({.source_vocabulary = 13,
                             .target_vocabulary = 13,
                             .padding = 2,
                             .classes = 3,
                             .picture = {1, 8, 8},
                             .inputs = 5,
                             .outputs = 4});
  if (kind.name == kResNet.name) {
    io::set_fields(choice, {"stem=3", "attention=non_local"});
  } else if (kind.name == kRecurrentAttention.name) {
    io::set_fields(choice, {"patch=4", "hidden=9"});
  } else if (kind.task == Task::copy) {
    io::set_fields(choice, {"slots=9", "hidden=7"});
  } else if (kind.task == Task::answer) {
    io::set_fields(choice, {"embed=24", "hops=2"});
  } else {
    io::set_fields(choice, {"embed=24", "dropout=0.25"});
  }
  return choice;
}

TEST(ModelKinds, EveryKindMakesAModelFromItsConfig) {
  for (const ModelKind& kind : model_kinds()) {
    SCOPED_TRACE(kind.name);
    const ModelChoice choice = small_choice(kind);
    Generator generator(1);
    const std::unique_ptr<Model> model = choice.make(generator);
    EXPECT_GT(model->parameter_count(), 0);
    EXPECT_EQ(dynamic_cast<TranslationModel*>(model.get()) != nullptr,
              kind.task == Task::translate);
    EXPECT_EQ(dynamic_cast<CausalModel*>(model.get()) != nullptr, kind.task == Task::language);
    EXPECT_EQ(dynamic_cast<ClassificationModel*>(model.get()) != nullptr,
              kind.task == Task::classify);
    EXPECT_EQ(dynamic_cast<EncodingModel*>(model.get()) != nullptr, kind.task == Task::embed);
    EXPECT_EQ(dynamic_cast<FillingModel*>(model.get()) != nullptr, kind.task == Task::fill);
    EXPECT_EQ(dynamic_cast<PictureModel*>(model.get()) != nullptr, kind.task == Task::recognise);
    EXPECT_EQ(dynamic_cast<PointingModel*>(model.get()) != nullptr, kind.task == Task::point);
    EXPECT_EQ(dynamic_cast<BitModel*>(model.get()) != nullptr, kind.task == Task::copy);
    EXPECT_EQ(dynamic_cast<ReadingModel*>(model.get()) != nullptr, kind.task == Task::read);
    EXPECT_EQ(dynamic_cast<AnsweringModel*>(model.get()) != nullptr, kind.task == Task::answer);
    EXPECT_EQ(dynamic_cast<CaptionModel*>(model.get()) != nullptr, kind.task == Task::caption);

    const ModelChoice own = model->choice();
    EXPECT_EQ(own.kind().name, kind.name);
    const std::string text = io::to_toml(own);
    EXPECT_EQ(text, io::to_toml(choice));
    EXPECT_NE(text, io::to_toml(ModelChoice(kind))) << "not the defaults";
    ModelChoice read(kind);
    io::load_toml(text, read);
    EXPECT_EQ(io::to_toml(read), text);
    Generator again(1);
    EXPECT_EQ(read.make(again)->parameter_count(), model->parameter_count());
  }
}

TEST(ModelKinds, AttentionsAreThoseOfTheConfig) {
  ModelChoice choice(kTransformer);
  io::set_fields(choice, {"attention=restricted", "decoder_attention=average",
                          "cross_attention=multi_head kv_heads=1"});
  std::vector<std::string> texts;
  for (const AttentionChoice& attention : choice.config().attentions()) {
    texts.push_back(attention.text());
  }
  EXPECT_THAT(texts, testing::ElementsAre("restricted", "average", "multi_head kv_heads=1"));
}

TEST(ModelChoice, CopiesHaveTheirOwnConfig) {
  ModelChoice choice(kTransformer);
  ModelChoice copy = choice;
  copy.config_of<Transformer>()->encoder_layers = 9;
  EXPECT_EQ(choice.config_of<Transformer>()->encoder_layers, 6);
  choice = copy;
  EXPECT_EQ(choice.config_of<Transformer>()->encoder_layers, 9);
  const ModelKind* const classifier = find_model_kind("classifier");
  ASSERT_NE(classifier, nullptr);
  EXPECT_EQ(ModelChoice(*classifier).config_of<Transformer>(), nullptr) << "another class";
}

}  // namespace
}  // namespace heed::kinds_test

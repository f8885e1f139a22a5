#include "heed/serve/served_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/serve/api_error.h"
#include "tests/serve/small_service.h"
#include "tests/support/error_message.h"

namespace heed::serve {
namespace {

using testing::ElementsAre;

int refusal_of(const std::function<void()>& work) {
  try {
    work();
    return 200;
  } catch (const ApiError& error) {
    return error.status;
  }
}

ServedModels load_all() {
  ServedModels models;
  const ServeConfig config = small_models().config();
  for (const std::string& text : config.models) {
    models.push_back(std::make_shared<ServedModel>(parse_model(text), config));
  }
  return models;
}

TEST(ServedModel, HasTheLanguagesOfItsName) {
  const Translator translator = test::tiny_translator(test::letters(), test::letters());
  EXPECT_THAT(languages_of(translator, "opus-mt-en-fr").sources, ElementsAre("en"));
  EXPECT_THAT(languages_of(translator, "opus-mt-en-fr").targets, ElementsAre("fr"));
  EXPECT_THAT(languages_of(translator, "de_zho").targets, ElementsAre("zho"));
  EXPECT_THAT(languages_of(translator, "mine").sources, ElementsAre("und"));
  EXPECT_THAT(languages_of(translator, "en-French").targets, ElementsAre("und"));
}

TEST(ServedModel, IsFoundByNameAndByLanguages) {
  const ServedModels models = load_all();
  EXPECT_EQ(find_model(models, "text")->task(), Task::language);
  EXPECT_EQ(refusal_of([&] { find_model(models, "none"); }), 404);
  EXPECT_EQ(find_translator(models, "en", "fr").model, models[0]);
  EXPECT_EQ(find_translator(models, "auto", "fr").source, "en");
  EXPECT_EQ(refusal_of([&] { find_translator(models, "en", "de"); }), 400);
  EXPECT_EQ(refusal_of([&] { find_translator(models, "de", "fr"); }), 400);
}

TEST(ServedModel, AcceptsAsManyAsItMay) {
  ServeConfig config = small_models().config();
  config.limits.queue = 3;
  ServedModel model(parse_model(config.models[0]), config);
  model.reserve(2);
  EXPECT_EQ(refusal_of([&] { model.reserve(2); }), 503);
  EXPECT_EQ(refusal_of([&] { model.reserve(4); }), 400) << "trying again would not help";
  model.reserve(1);
  model.release(3);
  model.reserve(3);
  EXPECT_EQ(model.gauge().waiting, 0);
}

TEST(ServedModel, RefusesOtherTasks) {
  const TempDir dir;
  save_model(test::tiny_classifier(), dir.path());
  EXPECT_THAT(error_message([&] {
                ServedModel({"x", dir.path()}, ServeConfig());
              }),
              testing::HasSubstr("serve translators"));
}

}  // namespace
}  // namespace heed::serve

// The kinds of models.
#include "heed/text/pipeline/subword_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::subword_model_test {
namespace {

std::unique_ptr<const SubwordModel> model(std::string_view json) {
  const io::Value value = io::parse_json(json, "f");
  return read_model(JsonNode(value, "f", "model"));
}

TEST(SubwordModel, OldFilesHaveNoType) {
  EXPECT_EQ(model(R"({"vocab": {"a": 0}, "merges": []})")->tokens().size(), 1u);
  EXPECT_EQ(model(R"({"vocab": {"a": 0}, "max_input_chars_per_word": 9})")->marks().prefix, "##");
  EXPECT_EQ(model(R"({"vocab": [["a", 0.5]], "unk_id": 0})")->unknown(), 0);
  EXPECT_EQ(model(R"({"vocab": {"<unk>": 4}})")->unknown(), 4);
}

TEST(SubwordModel, AnUnknownTypeIsAnError) {
  EXPECT_THAT(error_message([] { model(R"({"type": "Foo"})"); }),
              testing::HasSubstr("f: model.type is the string \"Foo\": expected a model: BPE"));
}

}  // namespace
}  // namespace heed::pipeline::subword_model_test

// Post-processors; the golden files have whole texts.
#include "heed/text/pipeline/post_processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::post_processor_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<const PostProcessor> processor(std::string_view json) {
  const io::Value value = io::parse_json(json, "f");
  return read_post_processor(JsonNode(value, "f"));
}

Sequence sequence(std::string_view text, std::vector<std::int32_t> ids) {
  Sequence made;
  made.text = text;
  for (const std::int32_t id : ids) {
    made.encoding.add(id, {0, static_cast<std::uint32_t>(text.size())}, 0);
    made.spaces.push_back({});
  }
  return made;
}

Encoding joined(std::string_view json, bool pair, bool special = true) {
  std::vector<Sequence> sequences = {sequence("a", {5, 6})};
  if (pair) sequences.push_back(sequence("b", {7}));
  processor(json)->process(sequences, special);
  return sequences.front().encoding;
}

TEST(PostProcessor, BertAndRobertaPutTokensAround) {
  constexpr std::string_view kBert =
      R"({"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]})";
  EXPECT_THAT(joined(kBert, false).ids, ElementsAre(1, 5, 6, 2));
  EXPECT_THAT(joined(kBert, true).ids, ElementsAre(1, 5, 6, 2, 7, 2));
  EXPECT_THAT(joined(kBert, true).types, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(joined(kBert, true, false).ids, ElementsAre(5, 6, 7));
  constexpr std::string_view kRoberta =
      R"({"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]})";
  EXPECT_THAT(joined(kRoberta, true).ids, ElementsAre(1, 5, 6, 2, 2, 7, 2));
  EXPECT_THAT(joined(kRoberta, true).types, ElementsAre(0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(processor(kRoberta)->greatest(), 2);
}

TEST(PostProcessor, TemplatesTellWhatGoesAround) {
  const auto made = processor(
      R"({"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing",
          "single": [{"SpecialToken": {"id": "B", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 3}}],
          "special_tokens": {"B": {"id": "B", "ids": [8, 9], "tokens": ["x", "y"]}}}]})");
  EXPECT_THAT(made->before(), ElementsAre(8, 9));
  EXPECT_THAT(made->after(), ElementsAre());
  EXPECT_EQ(made->greatest(), 9);
}

TEST(PostProcessor, TrimsSpaces) {
  std::vector<Sequence> sequences = {sequence(" \u00A0ab ", {5})};
  sequences[0].spaces = {spaces_of("Ġ\u00A0abĠ")};
  processor(R"({"type": "ByteLevel", "trim_offsets": true})")->process(sequences, true);
  EXPECT_EQ(sequences[0].encoding.spans[0], (TextSpan{3, 5}));
}

TEST(PostProcessor, CountsSpaces) {
  EXPECT_EQ(spaces_of("ĠĠa").left, 2u);
  EXPECT_EQ(spaces_of("aĠ").right, 1u);
  EXPECT_EQ(spaces_of("Ġ").left, 1u);
  EXPECT_EQ(spaces_of("Ġ").right, 1u);
  EXPECT_EQ(spaces_of("").left, 0u);
}

TEST(PostProcessor, ErrorsNameThePath) {
  EXPECT_THAT(error_message([] { processor(R"({"type": "Foo"})"); }),
              HasSubstr("f: type is the string \"Foo\""));
  EXPECT_THAT(
      error_message([] {
        processor(
            R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "X", "type_id": 0}}]})");
      }),
      HasSubstr("f: single[0].SpecialToken is \"X\", which special_tokens lacks"));
  EXPECT_THAT(
      error_message([] {
        processor(
            R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "B", "type_id": 0}}]})");
      }),
      HasSubstr("expected \"A\""));
}

}  // namespace
}  // namespace heed::pipeline::post_processor_test

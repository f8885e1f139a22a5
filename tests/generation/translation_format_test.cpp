// The special tokens of translators, and the choice of languages.
#include "heed/generation/translation_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"

namespace heed::translation_format_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

TranslationFormat multilingual(SourceLanguage source, TargetLanguage target) {
  return {.frame = {.after = {2}, .start = 2},
          .languages = {.all = {{"de", 30}, {"en", 10}, {"fr", 20}},
                        .source_place = source,
                        .target_place = target,
                        .source = source == SourceLanguage::none ? "" : "en"}};
}

TEST(TranslationFormat, ThatOfHeedHasAnEndToken) {
  const auto source = test::letters(), target = test::letters("xyz");
  const TranslationFormat format = plain_format(*source, *target);
  const TranslationFrame frame = frame_for(format, "", "");
  EXPECT_THAT(frame.before, IsEmpty());
  EXPECT_THAT(frame.after, ElementsAre(source->special().end));
  EXPECT_EQ(frame.start, target->special().begin);
  EXPECT_THAT(frame.forced, IsEmpty());
  EXPECT_EQ(frame.around(), 1);
  EXPECT_FALSE(frame.lacks_target);
  EXPECT_EQ(format.search.beam_size, SearchOptions{}.beam_size);
}

TEST(TranslationFormat, LanguagesHaveTheirPlaces) {
  const auto forced = multilingual(SourceLanguage::before, TargetLanguage::forced);
  TranslationFrame frame = frame_for(forced, "de", "fr");
  EXPECT_THAT(frame.before, ElementsAre(30));
  EXPECT_THAT(frame.after, ElementsAre(2));
  EXPECT_EQ(frame.start, 2);
  EXPECT_THAT(frame.forced, ElementsAre(20));
  EXPECT_THAT(frame_for(forced, "", "fr").before, ElementsAre(10)) << "the model's own";

  const auto start = multilingual(SourceLanguage::after, TargetLanguage::start);
  frame = frame_for(start, "de", "fr");
  EXPECT_THAT(frame.before, IsEmpty());
  EXPECT_THAT(frame.after, ElementsAre(2, 30));
  EXPECT_EQ(frame.start, 20);
  EXPECT_THAT(frame.forced, IsEmpty());

  const auto source = multilingual(SourceLanguage::none, TargetLanguage::source);
  frame = frame_for(source, "", "fr");
  EXPECT_THAT(frame.before, ElementsAre(20));
  EXPECT_FALSE(frame_for(source, "", "").lacks_target) << "the text may name it";
  EXPECT_TRUE(frame_for(forced, "", "").lacks_target);
  EXPECT_TRUE(frame_for(start, "", "").lacks_target);
}

TEST(TranslationFormat, UnknownLanguagesAreNamed) {
  const auto format = multilingual(SourceLanguage::before, TargetLanguage::forced);
  EXPECT_THAT(error_message([&] { frame_for(format, "", "french"); }),
              AllOf(HasSubstr("no language \"french\""), HasSubstr("3 are fr,"),
                    HasSubstr("--list-languages")));
  EXPECT_THAT(error_message([&] { frame_for({}, "en", ""); }), HasSubstr("reads one language"));
  EXPECT_THAT(error_message([&] { frame_for({}, "", "fr"); }), HasSubstr("writes one language"));
}

TEST(TranslationFormat, APlanHasItsBans) {
  const TranslationFormat format{.special = {.unknown = 3, .begin = 0, .end = 1, .padding = 0},
                                 .ends = {1},
                                 .never = {8, 9},
                                 .never_sequences = {{5, 6}},
                                 .is_cut = true,
                                 .renormalised = true};
  const SearchPlan plan = plan_for(format, {.allow_unknown = true});
  std::vector<std::int32_t> banned;
  for (const Rule& rule : plan.rules) rule(std::vector<std::int32_t>{5}, banned);
  EXPECT_THAT(banned, UnorderedElementsAre(0, 0, 8, 9, 6));
  EXPECT_THAT(plan.ends, ElementsAre(1));
  EXPECT_TRUE(plan.is_cut && plan.renormalised);
  EXPECT_FALSE(plan.is_end_certain);
}

}  // namespace
}  // namespace heed::translation_format_test

// Words of a source as tokens of the target: by their text, whatever the vocabularies.
#include "heed/text/copy_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/words.h"
#include "tests/generation/tiny_translator.h"

namespace heed::copy_table_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::int32_t id_of(const Tokenizer& tokenizer, std::string_view word) {
  return tokenizer.encode(word)[0];
}

TEST(CopyTable, WordsAreMatchedByTheirText) {
  const auto source = test::words("dog cat Ann"), target = test::words("cat bird");
  const CopyTable table(*source, *target);
  const std::string text = "Ann cat Zuko dog Zuko bird";
  std::vector<std::int32_t> ids = source->encode(text);
  ids.push_back(source->special().end);
  const CopiedWords copied = table.read(text, ids);
  const auto V = static_cast<std::int32_t>(target->size());
  // "Ann" and "dog" are tokens of the source alone, "bird" of the target alone.
  EXPECT_THAT(copied.words, ElementsAre("Ann", "Zuko", "dog"));
  EXPECT_THAT(copied.ids, ElementsAre(V, id_of(*target, "cat"), V + 1, V + 2, V + 1,
                                      id_of(*target, "bird"), target->special().end));
  EXPECT_EQ(copied.known(V + 1), target->special().unknown);
  EXPECT_EQ(copied.known(V - 1), V - 1);
  const std::vector<std::int32_t> result = table.read_target("cat Zuko Milo Ann", copied);
  EXPECT_THAT(result, ElementsAre(id_of(*target, "cat"), V + 1, target->special().unknown, V));
  EXPECT_EQ(table.decode(result, copied.words), "cat Zuko <unk> Ann");
}

TEST(CopyTable, ASentenceMayBeCutAndHaveSpecialTokensBefore) {
  const auto words = test::words("a b");
  const CopyTable table(*words, *words);
  const SpecialTokens special = words->special();
  const std::vector<std::int32_t> ids = {special.begin, special.unknown, id_of(*words, "a"),
                                         special.end};
  const CopiedWords copied = table.read("X a b Y", ids, 1);
  EXPECT_THAT(copied.words, ElementsAre("X"));
  EXPECT_THAT(copied.ids,
              ElementsAre(special.unknown, words->size(), id_of(*words, "a"), special.end));
}

TEST(CopyTable, CharactersAndJointsAreJoinedAgain) {
  const auto letters = test::letters("ab ");
  const CopyTable table(*letters, *letters);
  const std::string text = "a 龙b";
  const CopiedWords copied = table.read(text, letters->encode(text));
  EXPECT_THAT(copied.words, ElementsAre("龙"));
  EXPECT_EQ(table.decode(copied.ids, copied.words), text);

  const auto parts = std::make_shared<Words>(Vocabulary({{"wor@@", 1}, {"ld", 1}}));
  const CopyTable joined(*parts, *parts);
  const CopiedWords split = joined.read("Zu@@ ld wor@@ ko", parts->encode("Zu@@ ld wor@@ ko"));
  EXPECT_THAT(split.words, ElementsAre("Zu@@", "ko"));
  EXPECT_EQ(joined.decode(split.ids, split.words), "Zuld worko");
}

TEST(CopyTable, WithoutWordsThereIsNothingToName) {
  const auto words = test::words("a b");
  const CopyTable table(*words, *words);
  const CopiedWords copied = table.read("a b", words->encode("a b"));
  EXPECT_THAT(copied.words, IsEmpty());
  EXPECT_THAT(copied.ids, testing::ElementsAreArray(words->encode("a b")));
  EXPECT_EQ(table.decode(copied.ids, copied.words), "a b");
}

}  // namespace
}  // namespace heed::copy_table_test

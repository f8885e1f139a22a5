// subword-nmt's BPE: token for token what subword-nmt itself gives (tests/golden/subword_nmt.json,
// made by tools/golden/bpe_lines.py), the numbers, and the way back.
#include "heed/text/subword_nmt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/io/lines.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed::subword_nmt_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Strings = std::vector<std::string>;

const io::Value& at(const io::Value& table, std::string_view key) {
  return *io::find(*table.table(), key);
}

Strings strings(const io::Value& list) {
  Strings all;
  for (const io::Value& item : *list.list()) all.push_back(*item.string());
  return all;
}

SubwordNmt tokenizer_of(const io::Value& golden) {
  BpeCodes codes = BpeCodes::parse(*at(golden, "codes").string(), "golden");
  if (at(golden, "vocabulary").is_null()) return {std::move(codes), Vocabulary()};
  std::vector<TokenCount> tokens;
  for (const auto& [token, count] : *at(golden, "vocabulary").table()) {
    tokens.push_back({token, *count.integer()});
  }
  return {std::move(codes),
          Vocabulary(std::move(tokens)),
          {.threshold = *at(golden, "threshold").integer()}};
}

TEST(SubwordNmt, CutsAsSubwordNmtDoes) {
  const std::string path = test::golden_path("subword_nmt.json").string();
  const io::Value golden = io::parse_json(io::read_file(path, 1 << 20), path);
  int lines = 0;
  for (const io::Value& test : *at(golden, "cases").list()) {
    const SubwordNmt tokenizer = tokenizer_of(test);
    const Strings texts = strings(at(test, "lines"));
    for (std::size_t i = 0; i < texts.size(); ++i, ++lines) {
      EXPECT_EQ(tokenizer.cut(texts[i]), strings((*at(test, "tokens").list())[i]))
          << '"' << texts[i] << "\" by " << *at(test, "codes").string();
    }
  }
  EXPECT_EQ(lines, 176);
}

SubwordNmt small() {
  BpeCodes codes = BpeCodes::parse("#version: 0.2\nl o\nlo w</w>\ne r</w>\n", "codes");
  return {std::move(codes), Vocabulary({{"low", 5}, {"lo@@", 4}, {"w@@", 3}, {"er", 2}})};
}

TEST(SubwordNmt, NumbersTokensAndBack) {
  const SubwordNmt tokenizer = small();
  EXPECT_EQ(tokenizer.size(), 8);
  const auto ids = tokenizer.encode("low  lower\n");
  EXPECT_THAT(ids, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(tokenizer.decode(ids), "low lower");
  EXPECT_EQ(tokenizer.decode(std::vector{1, 5, 6, 7, 2, 3, 3}), "lower");
  EXPECT_EQ(tokenizer.decode(std::vector{5, 6}), "low");  // cut off inside a word
  EXPECT_THAT(tokenizer.encode("x low"), ElementsAre(0, 4));
  EXPECT_THAT(tokenizer.encode("\xff"), ElementsAre(0));
  EXPECT_TRUE(tokenizer.encode("").empty());
  EXPECT_EQ(tokenizer.piece(5), "lo@@");
}

TEST(SubwordNmt, KnowsItsWords) {
  const SubwordNmt tokenizer = small();
  const auto ids = tokenizer.encode("low lower x");
  EXPECT_THAT(word_spans(tokenizer, ids),
              ElementsAre(WordSpan{0, 1}, WordSpan{1, 4}, WordSpan{4, 5}));
}

TEST(SubwordNmt, ReadsBackFromItsFile) {
  const SubwordNmt tokenizer(small().codes(), small().vocabulary(),
                             {.separator = "@@", .threshold = 3});
  const auto files = tokenizer.files();
  ASSERT_EQ(files.size(), 1u);
  const auto again = parse_tokenizer(files[0].content, "file");
  const auto& same = dynamic_cast<const SubwordNmt&>(*again);
  EXPECT_EQ(same.files()[0].content, files[0].content);
  EXPECT_EQ(same.vocabulary(), tokenizer.vocabulary());
  EXPECT_EQ(same.options().threshold, 3);
  EXPECT_EQ(same.cut("lower"), tokenizer.cut("lower"));
}

TEST(SubwordNmt, RefusesASeparatorThatIsNone) {
  EXPECT_THAT(error_message([] {
                SubwordNmt(BpeCodes::parse("a b\n", ""), Vocabulary(), {.separator = ""});
              }),
              HasSubstr("separator"));
}

TEST(SubwordNmt, CountsTheTokensOfFiles) {
  const TempDir folder;
  io::write_file(folder / "codes.gz", test::gzip("#version: 0.2\nl o\nlo w</w>\n"));
  io::write_file(folder / "text", "low lower low\nlo\n");
  const std::vector<std::filesystem::path> paths = {folder / "text"};
  const Vocabulary vocabulary = count_subwords(paths, load_bpe_codes(folder / "codes.gz"));
  Strings tokens;
  for (const TokenCount& entry : vocabulary.tokens().subspan(4)) {
    tokens.push_back(fmt::format("{} {}", entry.token, entry.count));
  }
  EXPECT_THAT(tokens, ElementsAre("low 2", "e@@ 1", "l@@ 1", "lo@@ 1", "o 1", "r 1", "w@@ 1"));
}

// The published pre-processing of Multi30k: its text, joined and cut again by its codes, is itself.
TEST(SubwordNmt, CutsMulti30kAsPublished) {
  const auto folder = test::shared_data("multi30k-bpe-wu2021");
  HEED_NEED_SHARED_DATA(folder);
  const BpeCodes codes = load_bpe_codes(folder / "bpe.codes.gz");
  EXPECT_EQ(codes.size(), 10000);
  const SubwordNmt cutter(codes, Vocabulary());
  for (const char* name : {"test.2016.en.gz", "test.2016.de.gz"}) {
    const std::vector<std::filesystem::path> paths = {folder / name};
    const Words joiner(count_words(paths));
    EXPECT_EQ(joiner.joint(), "@@");
    io::LineReader reader(folder / name);
    for (std::string line; reader.next(line);) {
      const std::string joined = joiner.decode(joiner.encode(line));
      EXPECT_EQ(joined.find("@@"), joined.npos);
      ASSERT_EQ(fmt::format("{}", fmt::join(cutter.cut(joined), " ")), line) << reader.place();
    }
    EXPECT_EQ(reader.line_number(), 1000);
  }
}

}  // namespace
}  // namespace heed::subword_nmt_test

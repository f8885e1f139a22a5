// SentencePiece models: known encodings, odd text, models that lack special tokens, broken files.
#include "heed/text/sentence_piece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/io/file.h"
#include "heed/text/sentence_piece_training.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Strings = std::vector<std::string>;

Strings pieces_of(const Tokenizer& tokenizer, std::string_view text) {
  Strings pieces;
  for (const std::int32_t id : tokenizer.encode(text)) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

// A model as SentencePiece stores it: a protocol buffer with a field 1 for each piece, which has
// its text in field 1, its score in field 2 (nought is left out) and its kind in field 3.
enum class Kind : char { normal = 1, unknown = 2, control = 3 };
std::string model_of(const std::vector<std::pair<std::string, Kind>>& pieces) {
  std::string model;
  for (const auto& [text, kind] : pieces) {
    std::string piece = {0x0a, static_cast<char>(text.size())};
    piece += text;
    piece += {0x18, static_cast<char>(kind)};
    model += {0x0a, static_cast<char>(piece.size())};
    model += piece;
  }
  return model;
}

const SentencePiece& bilingual() {
  static const SentencePiece tokenizer(
      train_sentence_piece(Strings{"the dog sees the small fish", "a small dog runs",
                                   "小狗看小鱼 。", "小狗 在 河边", "the fish swims by the river"},
                           {.size = 36, .character_coverage = 1.0}));
  return tokenizer;
}

TEST(SentencePiece, RoundTrips) {
  const SentencePiece& tokenizer = bilingual();
  EXPECT_EQ(tokenizer.size(), 36);
  for (const char* text : {"the dog runs by the river", "小狗看小鱼", "小 狗", "the 小狗", "d"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("  the   dog ")), "the dog");
  for (const char* text : {"", " ", "   \t\n"}) EXPECT_THAT(tokenizer.encode(text), IsEmpty());
  EXPECT_EQ(tokenizer.decode({}), "");
}

TEST(SentencePiece, SpecialTokensAreWhereHeedPutsThem) {
  EXPECT_EQ(bilingual().special(), SpecialTokens{});
  EXPECT_TRUE(bilingual().has_padding());
  EXPECT_EQ(bilingual().piece(3), "<pad>");
  const auto dog = bilingual().encode("dog");
  std::vector<std::int32_t> framed = {1};
  framed.insert(framed.end(), dog.begin(), dog.end());
  framed.insert(framed.end(), {2, 3, 3});
  EXPECT_EQ(bilingual().decode(framed), "dog");
}

TEST(SentencePiece, AnyTextWillDo) {
  const SentencePiece& tokenizer = bilingual();
  EXPECT_THAT(pieces_of(tokenizer, "\xff\xfe"), ElementsAre("▁", "<unk>"));
  EXPECT_THAT(pieces_of(tokenizer, "🙂"), ElementsAre("▁", "<unk>"));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("the \xff dog")), "the  ⁇  dog");
  const auto ids = tokenizer.encode(std::string_view("d\0g", 3));
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 0), 1);
  for (const std::int32_t id : tokenizer.encode("<s> dog </s> <pad>")) {
    EXPECT_TRUE(id == 0 || id > 3) << "no text ends a sentence";
  }
}

TEST(SentencePiece, KnowsItsWords) {
  const SentencePiece& tokenizer = bilingual();
  for (const char* text : {"the river swims", "小狗 在 river"}) {
    const auto ids = tokenizer.encode(text);
    const auto spans = word_spans(tokenizer, ids);
    Strings words;
    for (const WordSpan& span : spans) {
      words.push_back(tokenizer.decode(std::span(ids).subspan(span.begin, span.end - span.begin)));
    }
    EXPECT_EQ(fmt::format("{}", fmt::join(words, " ")), text);
    EXPECT_EQ(words.size(), 3u);
    EXPECT_EQ(spans.front().begin, 0u);
    EXPECT_EQ(spans.back().end, ids.size());
  }
}

TEST(SentencePiece, StandsInForSpecialTokensThatAModelLacks) {
  const auto special_of = [](std::vector<std::pair<std::string, Kind>> pieces) {
    pieces.push_back({"▁dog", Kind::normal});
    const SentencePiece tokenizer(model_of(pieces));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("dog")), "dog");
    EXPECT_FALSE(tokenizer.has_padding());
    return tokenizer.special();
  };
  const std::pair<std::string, Kind> unknown = {"<unk>", Kind::unknown};
  EXPECT_EQ(special_of({{"<s>", Kind::control}, {"</s>", Kind::control}, unknown}),
            (SpecialTokens{.unknown = 2, .begin = 0, .end = 1, .padding = 2}));
  EXPECT_EQ(special_of({{"</s>", Kind::control}, unknown}),
            (SpecialTokens{.unknown = 1, .begin = 0, .end = 0, .padding = 1}));
  EXPECT_EQ(special_of({{"<s>", Kind::control}, unknown}),
            (SpecialTokens{.unknown = 1, .begin = 0, .end = 0, .padding = 1}));
  EXPECT_EQ(special_of({unknown}),
            (SpecialTokens{.unknown = 0, .begin = 0, .end = 0, .padding = 0}));
}

TEST(SentencePiece, UnknownIsHeardEvenAsPadding) {
  const SentencePiece tokenizer(model_of({{"<unk>", Kind::unknown}, {"▁dog", Kind::normal}}));
  EXPECT_THAT(tokenizer.decode(std::vector{1, 0}), HasSubstr("⁇"));
}

TEST(SentencePiece, StaysTheFileItWas) {
  const auto files = bilingual().files();
  ASSERT_EQ(files.size(), 1u);
  const auto again = parse_tokenizer(files[0].content, "file");
  EXPECT_NE(dynamic_cast<const SentencePiece*>(again.get()), nullptr);
  EXPECT_EQ(again->files()[0].content, files[0].content);
  EXPECT_EQ(again->encode("the small 小狗"), bilingual().encode("the small 小狗"));
}

TEST(SentencePiece, RefusesWhatIsNoModelOrToken) {
  const std::string model = bilingual().files()[0].content;
  for (const std::string& bad : {std::string(), std::string("text"), model.substr(0, 100)}) {
    EXPECT_THAT(error_message([&] { SentencePiece(bad, "a.model"); }),
                HasSubstr("a.model is not a SentencePiece model"));
  }
  for (const int id : {-1, 36}) {
    EXPECT_THAT(error_message([&] { bilingual().decode(std::vector{id}); }),
                AllOf(HasSubstr(std::to_string(id)), HasSubstr("from 0 to 35")));
    EXPECT_THAT(error_message([&] { bilingual().piece(id); }), HasSubstr("no token"));
  }
}

// What SentencePiece's own documentation gives for this model.
TEST(SentencePiece, KnownEncodings) {
  const auto path = test::shared_data("models/sentencepiece-test/test_model.model");
  HEED_NEED_SHARED_DATA(path);
  const SentencePiece tokenizer(io::read_file(path, 1 << 20));
  EXPECT_EQ(tokenizer.size(), 1000);
  EXPECT_THAT(tokenizer.encode("This is a test"), ElementsAre(284, 47, 11, 4, 15, 400));
  EXPECT_THAT(pieces_of(tokenizer, "This is a test"),
              ElementsAre("▁This", "▁is", "▁a", "▁", "t", "est"));
  EXPECT_THAT(tokenizer.encode("Hello world"), ElementsAre(151, 88, 21, 887));
  EXPECT_EQ(tokenizer.decode(std::vector{151, 88, 21, 887}), "Hello world");
  EXPECT_EQ(tokenizer.special(), (SpecialTokens{.unknown = 0, .begin = 1, .end = 2, .padding = 0}));
}

}  // namespace
}  // namespace heed

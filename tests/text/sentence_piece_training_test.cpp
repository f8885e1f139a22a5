// Training of SentencePiece models: every kind, the same bytes again, and errors that say a remedy.
#include "heed/text/sentence_piece_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/text/sentence_piece.h"
#include "heed/text/unicode.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Strings = std::vector<std::string>;

// Sentences of a tiny grammar, all different.
Strings sentences() {
  Strings all;
  for (const char* who : {"the dog", "a small cat", "my old neighbour", "your teacher"}) {
    for (const char* does : {"sees", "follows", "remembers", "paints"}) {
      for (const char* what : {"the river", "a tree", "two houses", "every bird", "小狗"}) {
        all.push_back(fmt::format("{} {} {}.", who, does, what));
      }
    }
  }
  return all;
}

SentencePieceOptions small() { return {.size = 40, .character_coverage = 1.0}; }

TEST(SentencePieceTraining, EveryKindOfPiece) {
  const std::string text = "the dog sees a tree.";
  const auto train = [](PieceModel kind, std::int64_t size) {
    SentencePieceOptions options = small();
    options.model_type = kind;
    options.size = size;
    SentencePiece tokenizer(train_sentence_piece(sentences(), options));
    EXPECT_EQ(tokenizer.special(), SpecialTokens{});
    return tokenizer.files()[0].content;
  };
  for (const PieceModel kind : {PieceModel::unigram, PieceModel::bpe, PieceModel::character}) {
    const SentencePiece tokenizer(train(kind, 40));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    EXPECT_EQ(tokenizer.encode(text).size() == 1 + text.size(), kind == PieceModel::character);
  }
  const SentencePiece words(train(PieceModel::word, 20));
  EXPECT_EQ(words.encode(text).size(), 5u);
  EXPECT_NE(train(PieceModel::unigram, 40), train(PieceModel::bpe, 40));
}

TEST(SentencePieceTraining, TheSameBytesEveryTime) {
  SentencePieceOptions options = small();
  options.sample = 60;
  const std::string model = train_sentence_piece(sentences(), options);
  EXPECT_EQ(train_sentence_piece(sentences(), options), model);
  std::string in_thread;
  std::thread([&] { in_thread = train_sentence_piece(sentences(), options); }).join();
  EXPECT_EQ(in_thread, model);
  options.seed = 2;
  EXPECT_NE(train_sentence_piece(sentences(), options), model) << "another sample";
}

TEST(SentencePieceTraining, FilesAreTheirLines) {
  const TempDir folder;
  const Strings all = sentences();
  const auto text = [](std::span<const std::string> lines) {
    return fmt::format("{}\r\n", fmt::join(lines, "\r\n"));
  };
  io::write_file(folder / "a", text(std::span(all).first(30)));
  io::write_file(folder / "b.gz", test::gzip(text(std::span(all).subspan(30))));
  const std::vector<std::filesystem::path> paths = {folder / "a", folder / "b.gz"};
  EXPECT_EQ(train_sentence_piece(paths, small()), train_sentence_piece(all, small()));
}

TEST(SentencePieceTraining, SaysNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  train_sentence_piece(sentences(), small());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(SentencePieceTraining, UserSymbolsAreNeverCut) {
  SentencePieceOptions options = small();
  options.user_symbols = {"<2de>", "x,y", "say \"hi\"", "🙂"};
  const SentencePiece tokenizer(train_sentence_piece(sentences(), options));
  for (const std::string& symbol : options.user_symbols) {
    const auto ids = tokenizer.encode("dog" + symbol + "dog");
    EXPECT_TRUE(std::any_of(ids.begin(), ids.end(), [&](int id) {
      return tokenizer.piece(id) == symbol || tokenizer.piece(id) == "say▁\"hi\"";
    })) << symbol;
  }
}

TEST(SentencePieceTraining, BytesForWhatIsUnknown) {
  SentencePieceOptions options = small();
  options.size = 290;
  options.byte_fallback = true;
  const SentencePiece tokenizer(train_sentence_piece(sentences(), options));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("the 🙂 dog")), "the 🙂 dog");
}

TEST(SentencePieceTraining, NormalisationCanBeLeftOut) {
  Strings chinese;
  for (const std::string& sentence : sentences()) chinese.push_back(sentence + "，小狗！");
  SentencePieceOptions options = small();
  const SentencePiece usual(train_sentence_piece(chinese, options));
  EXPECT_EQ(usual.decode(usual.encode("小狗，")), "小狗,");
  options.normalization = PieceNormalization::identity;
  const SentencePiece plain(train_sentence_piece(chinese, options));
  EXPECT_EQ(plain.decode(plain.encode("小狗，")), "小狗，");
}

TEST(SentencePieceTraining, SaysWhichSizeWouldDo) {
  SentencePieceOptions options = small();
  options.size = 100000;
  const std::string high = error_message([&] { train_sentence_piece(sentences(), options); });
  EXPECT_THAT(high, AllOf(HasSubstr("100000 is too large"), HasSubstr("is the maximum")));
  options.size = std::stoll(high.substr(high.find("text: ") + 6));
  EXPECT_EQ(SentencePiece(train_sentence_piece(sentences(), options)).size(), options.size);
  options.size = 10;
  const std::string low = error_message([&] { train_sentence_piece(sentences(), options); });
  EXPECT_THAT(low, AllOf(HasSubstr("10 is too small"), HasSubstr("at least")));
  options.size = std::stoll(low.substr(low.find("at least ") + 9));
  EXPECT_EQ(SentencePiece(train_sentence_piece(sentences(), options)).size(), options.size);
}

// SentencePiece itself would end the program here.
TEST(SentencePieceTraining, RefusesTextWithNothingInIt) {
  for (const Strings& empty :
       {Strings(), Strings{"", "  ", "\t"}, Strings{"\u3000\u200b"}, Strings{"▁▁"}, Strings{"a▅b"},
        Strings{std::string(5000, 'x')}, Strings{"\uFFFD\uFFFD", "\xff"}}) {
    EXPECT_THAT(error_message([&] { train_sentence_piece(empty, small()); }),
                HasSubstr("no text to learn from"));
  }
}

// SentencePiece ends the program for some of these, and reports an error for others.
TEST(SentencePieceTraining, NothingItIsGivenEndsTheProgram) {
  std::string all_controls;
  for (char32_t c = 1; c < 0x20; ++c) unicode::append(all_controls, c);
  const std::vector<Strings> texts = {
      {"\uFFFD\uFFFD\uFFFD"},
      {"\xff\xff"},
      {"a"},
      {"\u0301"},
      {"\u2800\u3164\u115F"},
      {"\U0010FFFF\uE000\uFFFE\uFFFF"},
      {"\uFE0F\uFE0F"},
      {all_controls},
      {"<s> </s> <unk> <pad>"},
      {std::string(4000, 'a')},
      Strings(200, "same"),
      {"\u0378 \u0379"},
  };
  const PieceModel kinds[] = {PieceModel::unigram, PieceModel::bpe, PieceModel::character,
                              PieceModel::word};
  for (const Strings& text : texts) {
    for (const PieceModel kind : kinds) {
      for (const PieceNormalization rule :
           {PieceNormalization::nmt_nfkc, PieceNormalization::identity}) {
        SentencePieceOptions options{.size = 6, .model_type = kind, .normalization = rule};
        for (const bool bytes : {false, true}) {
          options.byte_fallback = bytes;
          if (bytes) options.size = 300;
          const std::string message = error_message([&] { train_sentence_piece(text, options); });
          EXPECT_THAT(message, testing::AnyOf(testing::StartsWith("[sentencepiece] "),
                                              testing::StrEq("(no error)")));
        }
      }
    }
  }
}

TEST(SentencePieceTraining, OddBytesDoNotStopIt) {
  Strings odd = sentences();
  odd.push_back("broken \xff\xfe bytes");
  odd.push_back(std::string("a null\0 in it", 13));
  odd.push_back(std::string(10000, 'y'));
  EXPECT_FALSE(train_sentence_piece(odd, small()).empty());
}

TEST(SentencePieceTraining, ChecksItsOptions) {
  SentencePieceOptions options;
  EXPECT_THAT(error_message([&] { io::set_fields(options, {"character_coverage=0.5"}); }),
              HasSubstr("from 0.98 to 1"));
  EXPECT_THAT(error_message([&] { io::set_fields(options, {"model_type=bep"}); }),
              HasSubstr("bpe"));
  for (const char* symbol : {"", "<s>", "a\nb", "\xff"}) {
    options.user_symbols = {symbol};
    EXPECT_THAT(error_message([&] { train_sentence_piece(sentences(), options); }),
                HasSubstr("user symbol"));
  }
  options.user_symbols = {"a", "a"};
  EXPECT_THAT(error_message([&] { train_sentence_piece(sentences(), options); }),
              HasSubstr("exists already"));
}

}  // namespace
}  // namespace heed

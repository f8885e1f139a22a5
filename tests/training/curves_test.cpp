// Curves: what is written, what a run that goes on keeps of them, and what is read back.
#include "heed/training/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

UpdateReport update(std::int64_t number, double loss = 2.5) {
  return {.update = number,
          .epoch = 0.25 * static_cast<double>(number),
          .loss = loss,
          .negative_log_likelihood = std::log(8.0),
          .rate = 0.001,
          .gradient_norm = 1.5,
          .source_tokens = 40,
          .target_tokens = 50,
          .seconds = 0.125,
          .skipped = !std::isfinite(loss)};
}

ValidationReport validation(std::int64_t number, double loss) {
  return {.update = number,
          .epoch = 1.0,
          .judgements = {{"loss", loss}, {"bleu", 30.0, true}},
          .best = true,
          .seconds = 2.0};
}

std::string text_of(const TempDir& dir, std::string_view name) {
  return io::read_file(dir / std::string(name), 10000);
}

constexpr const char* kTrain =
    "update,epoch,loss,perplexity,rate,norm,skipped,source_tokens,target_tokens,seconds\n";

TEST(Curves, ALineAnUpdate) {
  const TempDir dir;
  CurveWriter writer(dir.path());
  writer.began(0);
  writer.updated(update(1));
  writer.updated(update(2, std::nan("")));
  writer.validated(validation(2, 1.75));
  EXPECT_EQ(text_of(dir, "train.csv"), std::string(kTrain) +
                                           "1,0.25,2.5,8,0.001,1.5,0,40,50,0.125\n"
                                           "2,0.5,nan,8,0.001,1.5,1,40,50,0.125\n");
  EXPECT_EQ(text_of(dir, "valid.csv"),
            "update,epoch,metric,value,best,seconds\n2,1,loss,1.75,1,2\n2,1,bleu,30,1,2\n");
  const Curves curves = read_curves(dir.path());
  EXPECT_THAT(curves.training, ElementsAre(CurvePoint{1, 0.25, std::log(8.0)}))
      << "the skipped one is no point";
  ASSERT_EQ(curves.validation.size(), 2u);
  EXPECT_EQ(curves.validation[1].metric, "bleu");
  EXPECT_THAT(curves.validation[1].points, ElementsAre(CurvePoint{2, 1.0, 30.0}));
}

TEST(Curves, SamplesHaveAFileOfTheirOwn) {
  const TempDir dir;
  const auto sampled = [](std::int64_t number) {
    UpdateReport report = update(number);
    report.sampled = {.reward = -6.0 * static_cast<double>(number), .entropy = 3.0, .samples = 4};
    return report;
  };
  {
    CurveWriter writer(dir.path());
    writer.began(0);
    writer.updated(update(1));
    EXPECT_FALSE(std::filesystem::exists(dir / "samples.csv"));
    writer.updated(sampled(2));
    writer.updated(sampled(3));
  }
  CurveWriter writer(dir.path());
  writer.began(2);
  EXPECT_EQ(text_of(dir, "samples.csv"), "update,epoch,reward,entropy\n2,0.5,-3,0.75\n");
  writer.updated(sampled(4));
  const Curves curves = read_curves(dir.path());
  ASSERT_EQ(curves.samples.size(), 2u);
  EXPECT_EQ(curves.samples[0].metric, "reward");
  EXPECT_THAT(curves.samples[0].points,
              ElementsAre(CurvePoint{2, 0.5, -3.0}, CurvePoint{4, 1.0, -6.0}));
  EXPECT_THAT(curves.samples[1].points,
              ElementsAre(CurvePoint{2, 0.5, 0.75}, CurvePoint{4, 1.0, 0.75}));
}

TEST(Curves, GoingOnDropsWhatIsDoneAnew) {
  const TempDir dir;
  const auto train = [&](std::int64_t from, std::int64_t to) {
    CurveWriter writer(dir.path());
    writer.began(from);
    for (std::int64_t i = from + 1; i <= to; ++i) {
      writer.updated(update(i));
      if (i % 2 == 0) writer.validated(validation(i, 3.0));
    }
  };
  train(0, 6);
  const std::string training = text_of(dir, "train.csv"), valid = text_of(dir, "valid.csv");
  train(3, 5);
  io::AppendFile(dir / "train.csv").write("6,0.7");  // torn by a kill
  train(4, 6);
  EXPECT_EQ(text_of(dir, "train.csv"), training);
  EXPECT_EQ(text_of(dir, "valid.csv"), valid);
  train(0, 1);
  EXPECT_EQ(text_of(dir, "train.csv"),
            std::string(kTrain) + "1,0.25,2.5,8,0.001,1.5,0,40,50,0.125\n");
}

TEST(Curves, AnothersFileIsNotTouched) {
  const TempDir dir;
  io::write_file(dir / "train.csv", "label,text\n1,good\n");
  EXPECT_THAT(error_message([&] { CurveWriter(dir.path()).began(0); }),
              HasSubstr("train.csv is in the way"));
  EXPECT_EQ(text_of(dir, "train.csv"), "label,text\n1,good\n");
}

TEST(Curves, BothFilesAreCheckedBeforeOneIsChanged) {
  const TempDir dir;
  {
    CurveWriter writer(dir.path());
    writer.began(0);
    writer.updated(update(1));
  }
  const std::string training = text_of(dir, "train.csv");
  io::write_file(dir / "valid.csv", "label,text\n1,good\n");
  EXPECT_THAT(error_message([&] { CurveWriter(dir.path()).began(0); }),
              HasSubstr("valid.csv is in the way"));
  EXPECT_EQ(text_of(dir, "train.csv"), training);
}

TEST(Curves, ReadsWhatIsBeingWritten) {
  const std::string train = std::string(kTrain) + "1,0.25,2.5,8,0.001,1.5,0,40,50,0.125\n2,0.";
  EXPECT_EQ(parse_curves(train, "", "run").training.size(), 1u);
  EXPECT_TRUE(parse_curves("", "", "run").training.empty());
}

TEST(Curves, SaysWhereAFileIsBad) {
  const auto error = [](const std::string& text) {
    return error_message([&] { parse_curves(text, "", "run"); });
  };
  EXPECT_THAT(error("a,b\n"), HasSubstr("run/train.csv:1: it must begin with update,epoch,loss"));
  EXPECT_THAT(error(std::string(kTrain) + "1,2,3\n"), HasSubstr("run/train.csv:2: 3 columns"));
  EXPECT_THAT(error(std::string(kTrain) + "1,0,8,x,0,1,0,40,50,0\n"),
              HasSubstr("run/train.csv:2: update \"1\", epoch \"0\", value \"x\""));
  const TempDir dir;
  EXPECT_THAT(error_message([&] { read_curves(dir.path()); }), HasSubstr("has no train.csv"));
}

}  // namespace
}  // namespace heed

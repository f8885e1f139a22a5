// Event files: the bytes of TensorBoard's own writer, and what a run that goes on writes.
#include "heed/training/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/io/file.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EventFile, TheBytesOfTensorBoard) {
  std::string tag = "valid/";
  for (int i = 0; i < 40; ++i) tag += "bleu";
  const std::string bytes = version_record({1700000000.25}) + restart_record({1700000001.5, 301}) +
                            scalar_record({1700000002.75, 400}, "train/loss", 2.71828) +
                            scalar_record({1700000003.0, 3000000000}, tag, -0.5);
  EXPECT_EQ(bytes, io::read_file(test::golden_path("events.tfevents"), 10000));
}

std::string only_file(const TempDir& dir) {
  const std::vector<std::string> names = dir.names();
  EXPECT_EQ(names.size(), 1u);
  EXPECT_THAT(names[0], HasSubstr("events.out.tfevents."));
  return io::read_file(dir / names[0], 10000);
}

std::int64_t times(const std::string& text, const std::string& part) {
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(EventWriter, WritesMeansNowAndThen) {
  const TempDir dir;
  EventWriter writer(dir.path(), 2);
  writer.began(0);
  for (std::int64_t i = 1; i <= 5; ++i) writer.updated({.update = i, .loss = 0.5, .seconds = 1});
  writer.validated({.update = 5, .judgements = {{"loss", 1.5}, {"chrf", 50.0, true}}});
  const std::string text = only_file(dir);
  EXPECT_EQ(times(text, "train/loss"), 2) << "of updates 2 and 4";
  EXPECT_EQ(times(text, "train/target_tokens_per_second"), 2);
  EXPECT_EQ(times(text, "valid/loss"), 1);
  EXPECT_EQ(times(text, "valid/chrf"), 1);
  EXPECT_EQ(times(text, "brain.Event:2"), 1);
}

// The record of a restart is the only one of its length.
TEST(EventWriter, GoingOnSaysSo) {
  const std::string restart = std::string("\x10\0\0\0\0\0\0\0", 8);
  const TempDir fresh, resumed;
  EventWriter(fresh.path(), 1).began(0);
  EventWriter(resumed.path(), 1).began(300);
  EXPECT_THAT(only_file(fresh), Not(HasSubstr(restart)));
  EXPECT_THAT(only_file(resumed), HasSubstr(restart));
}

TEST(EventWriter, WhatIsAllSkippedIsNoNumber) {
  const TempDir dir;
  EventWriter writer(dir.path(), 1);
  writer.began(0);
  writer.updated({.update = 1, .loss = std::nan(""), .skipped = true});
  EXPECT_EQ(times(only_file(dir), "train/loss"), 0);
}

}  // namespace
}  // namespace heed

#include "heed/training/stream_settings.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(StreamSettings, AreWrittenAndCompared) {
  const std::string before =
      settings_text(settings_of({.batch_tokens = 4096, .batch_sentences = 0, .seed = 1}));
  EXPECT_EQ(before, "batch_tokens=4096, batch_sentences=0, seed=1");
  EXPECT_EQ(differing_settings(before, before), "");
  EXPECT_EQ(differing_settings(before, "batch_tokens=64, batch_sentences=0, seed=1"),
            "batch_tokens was 4096 and is 64");
  EXPECT_EQ(differing_settings(before, "batch_tokens=64, batch_sentences=0, seed=2"),
            "batch_tokens was 4096 and is 64, seed was 1 and is 2");
}

TEST(StreamSettings, WhatOnlyOneSideHasDoesNotCount) {
  EXPECT_EQ(differing_settings("", "block_length=32"), "");
  EXPECT_EQ(differing_settings("block_length=32", ""), "");
  EXPECT_EQ(settings_text({}), "");
}

}  // namespace
}  // namespace heed

#include "heed/training/frequency.h"

#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using Unit = Frequency::Unit;

TEST(Frequency, IsReadAsMarianWritesIt) {
  EXPECT_EQ(parse_frequency("10e", "after"), (Frequency{10, Unit::epochs}));
  EXPECT_EQ(parse_frequency("500u", "after"), (Frequency{500, Unit::updates}));
  EXPECT_EQ(parse_frequency("5Ku", "after"), (Frequency{5000, Unit::updates}));
  EXPECT_EQ(parse_frequency("2M", "after"), (Frequency{2000000, Unit::updates}));
  EXPECT_EQ(parse_frequency("0", "after"), Frequency{});
}

TEST(Frequency, WhatIsNoneSaysSo) {
  for (const char* const text : {"", "e", "-1u", "1.5e", "10x", "10ee", "K", "9999999999999999u"}) {
    EXPECT_EQ(error_message([&] { parse_frequency(text, "save_freq"); }),
              fmt::format("[train] save_freq = \"{}\": write \"10e\" for ten epochs, \"500u\" or "
                          "\"5Ku\" for updates, \"0\" for never",
                          text));
  }
}

TEST(Frequency, IsDueWhenItsMultipleIsPassed) {
  const Frequency updates{10, Unit::updates}, epochs{2, Unit::epochs}, never{};
  EXPECT_TRUE(is_due(updates, {9, 0}, {10, 0}));
  EXPECT_FALSE(is_due(updates, {10, 0}, {11, 0}));
  EXPECT_TRUE(is_due(epochs, {99, 1}, {100, 2}));
  EXPECT_FALSE(is_due(epochs, {99, 2}, {100, 3}));
  EXPECT_FALSE(is_due(never, {0, 0}, {1, 1}));
  EXPECT_TRUE(is_reached(updates, {10, 0}));
  EXPECT_FALSE(is_reached(updates, {9, 5}));
  EXPECT_FALSE(is_reached(never, {9, 5}));
}

}  // namespace
}  // namespace heed

#include "heed/plot/attention_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/plot/small_view.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AttentionView, KindsHaveTheNamesOfFlags) {
  EXPECT_EQ(name_of(AttentionKind::encoder), "encoder");
  EXPECT_EQ(name_of(AttentionKind::cross), "cross");
}

TEST(AttentionView, PartsAreChosenByKind) {
  const AttentionView view = test::small_view();
  EXPECT_EQ(choose_parts(view, {}).size(), 3u);
  EXPECT_THAT(choose_parts(view, {.kind = AttentionKind::cross}), ElementsAre(&view.parts[2]));
}

TEST(AttentionView, APartWithoutThatLayerIsLeftOut) {
  AttentionView view = test::small_view();
  view.parts[0].layers.resize(1);
  EXPECT_THAT(choose_parts(view, {.layer = 2}), ElementsAre(&view.parts[1], &view.parts[2]));
}

TEST(AttentionView, WhatIsNotThereIsNamed) {
  AttentionView view = test::small_view();
  EXPECT_THAT(error_message([&] { choose_parts(view, {.layer = 3}); }),
              HasSubstr("--layer 3: layers go from 1 to 2"));
  EXPECT_THAT(error_message([&] { choose_parts(view, {.layer = 0}); }), HasSubstr("--layer 0"));
  EXPECT_THAT(error_message([&] { choose_parts(view, {.head = 4}); }),
              HasSubstr("--head 4: heads go from 1 to 3"));
  view.parts.pop_back();
  EXPECT_THAT(error_message([&] { choose_parts(view, {.kind = AttentionKind::cross}); }),
              HasSubstr("--kind cross: this model has encoder, decoder"));
}

TEST(AttentionView, WeightsMustBeNumbersThatFitTheTokens) {
  AttentionView view = test::small_view();
  view.parts[1].layers[1].mutable_data<float>()[9 + 4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_message([&] { check_view(view); }),
              HasSubstr("decoder layer 2 head 2 has weights that are not numbers"));
  view = test::small_view();
  view.parts[2].rows.pop_back();
  EXPECT_THAT(error_message([&] { check_view(view); }),
              HasSubstr("cross layer 1 are [3, 3, 2] for 2 query tokens and 2 key tokens"));
  view.parts[2].layers[0] = {};
  EXPECT_THAT(error_message([&] { check_view(view); }), HasSubstr("cross layer 1 are missing"));
}

}  // namespace
}  // namespace heed::plot

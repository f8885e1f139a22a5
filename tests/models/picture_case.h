// Pictures for tests of the models that read them, and what every such model must do.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/models/picture_sizes.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::test {

/// The sizes of the models of these tests: pictures of 8 x 12 pixels in three channels, 5 classes.
inline constexpr PictureSizes kPictureSizes{.picture = {3, 8, 12}, .classes = 5};

inline Tensor some_pictures(std::int64_t count) {
  Generator generator(7);
  return normal({count, 3, 8, 12}, 0.0, 1.0, generator);
}

/// Scores have the right shape, and pictures of another size are refused.
inline void expect_scores(const PictureModel& model) {
  EXPECT_EQ(model(some_pictures(3)).shape(), (Shape{3, 5}));
  EXPECT_THAT(error_message([&] {
                model(zeros({1, 3, 8, 8}));
              }),
              testing::HasSubstr("they must be [B, 3, 8, 12]"));
}

/// In evaluation mode, the scores of a picture do not depend on the other pictures.
inline void expect_independent(PictureModel& model) {
  const NoGrad no_grad;
  const Tensor x = some_pictures(4);
  model(x);  // running averages
  model.eval();
  const Tensor one = model(view::slice(x, 0, 2, 3));
  EXPECT_LE(max_relative_error(one, view::slice(model(x), 0, 2, 3)), 1e-5);
}

/// Every parameter but the buffers gets a gradient.
inline void expect_every_parameter_learns(const PictureModel& model) {
  sum(square(model(some_pictures(4)))).backward();
  const std::vector<NamedTensor> buffers = model.buffers();
  for (const NamedTensor& parameter : model.named_parameters()) {
    const bool is_buffer = std::ranges::any_of(
        buffers, [&](const NamedTensor& buffer) { return buffer.name == parameter.name; });
    ASSERT_EQ(parameter.tensor.tracks_grad(), !is_buffer) << parameter.name;
    if (!is_buffer) {
      EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    }
  }
}

}  // namespace heed::test

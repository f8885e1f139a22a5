// The tensor itself: what it says of its shape and layout, and access to its elements.
#include "heed/tensor/tensor.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Tensor, UndefinedUntilAssigned) {
  Tensor x;
  EXPECT_FALSE(x.defined());
  EXPECT_FALSE(x.tracks_grad());
  EXPECT_EQ(error_message([&] { x.data<float>(); }),
            "[tensor] the tensor is undefined: assign one before reading its data");
  EXPECT_THROW(x.item(), Error);
  x = zeros({2});
  EXPECT_TRUE(x.defined());
}

TEST(Tensor, ShapeAndSizes) {
  const Tensor x = zeros({2, 3, 5}, DType::i32);
  EXPECT_EQ(x.rank(), 3);
  EXPECT_EQ(x.numel(), 30);
  EXPECT_EQ(x.dtype(), DType::i32);
  EXPECT_EQ(x.size(0), 2);
  EXPECT_EQ(x.size(-1), 5);
  EXPECT_EQ(x.strides(), (Strides{15, 5, 1}));
  EXPECT_EQ(error_message([&] { x.size(3); }),
            "[size] axis 3 is outside a tensor of 3 dimensions: use -3 to 2");
  EXPECT_THROW(x.size(-4), Error);
  EXPECT_EQ(scalar(1.0).numel(), 1);
  EXPECT_EQ(zeros({2, 0, 3}).numel(), 0);
}

TEST(Tensor, CopiesShareTheData) {
  Tensor x = zeros({3});
  const Tensor y = x;
  x.mutable_data<float>()[1] = 5.0f;
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 5, 0}));
  EXPECT_EQ(y.detach().storage(), x.storage());
}

TEST(Tensor, ContiguousMeansRowMajorWithoutGaps) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_TRUE(x.contiguous());
  EXPECT_TRUE(scalar(1.0).contiguous());
  EXPECT_FALSE(view::transpose(x, 0, 1).contiguous());
  EXPECT_FALSE(view::slice(x, 2, 0, 3).contiguous());
  EXPECT_TRUE(view::slice(x, 0, 1, 2).contiguous());
  EXPECT_FALSE(view::slice(x, 1, 0, 2).contiguous());
  EXPECT_FALSE(view::expand(zeros({1, 3}), {2, 3}).contiguous());
  // The stride of an axis of size 1 does not matter.
  EXPECT_TRUE(view::slice(x, 1, 1, 2).rank() == 3);
  EXPECT_TRUE(view::transpose(zeros({1, 5}), 0, 1).contiguous());
  EXPECT_TRUE(view::slice(zeros({4, 1}), 1, 0, 1).contiguous());
}

TEST(Tensor, NothingIsContiguousWhateverItsStrides) {
  const Tensor x = zeros({4, 6});
  EXPECT_TRUE(view::slice(view::slice(x, 1, 0, 6, 2), 0, 0, 0).contiguous());
  EXPECT_TRUE(view::transpose(zeros({0, 3}), 0, 1).contiguous());
}

TEST(Tensor, DataOfAnotherTypeIsRefused) {
  Tensor x = zeros({2});
  EXPECT_EQ(error_message([&] { x.data<double>(); }),
            "[tensor] the data is f32, not f64: use cast(x, DType::f64)");
  EXPECT_THROW(x.mutable_data<std::int64_t>(), Error);
  EXPECT_THROW(x.to_vector<std::int32_t>(), Error);
}

TEST(Tensor, DataOfAFileIsNotWritten) {
  const auto owner = std::make_shared<float>(1.0f);
  Tensor x = borrow(reinterpret_cast<const std::byte*>(owner.get()), DType::f32, {1}, owner);
  EXPECT_EQ(x.item(), 1.0);
  EXPECT_EQ(error_message([&] { x.mutable_data<float>(); }),
            "[tensor] the data belongs to a read-only file: use clone(x) to get a copy of your "
            "own");
  EXPECT_THROW(x.mutable_values<float>(), Error);
}

TEST(Tensor, ValuesNeedAContiguousTensor) {
  Tensor x = arange(6);
  EXPECT_EQ(x.values<std::int64_t>().size(), 6u);
  x.mutable_values<std::int64_t>()[5] = 9;
  EXPECT_EQ(x.values<std::int64_t>().back(), 9);
  Tensor t = view::transpose(view::reshape(x, {2, 3}), 0, 1);
  EXPECT_EQ(error_message([&] { t.values<std::int64_t>(); }),
            "[tensor] a view of shape [3, 2] and strides [1, 3] is not contiguous: use "
            "contiguous(x) first");
  EXPECT_THROW(t.mutable_values<std::int64_t>(), Error);
  EXPECT_EQ(t.to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 9}));
}

TEST(Tensor, ViewsStartAtTheirOffset) {
  const Tensor x = arange(6);
  EXPECT_EQ(*view::slice(x, 0, 4, 6).data<std::int64_t>(), 4);
  EXPECT_EQ(view::slice(x, 0, 4, 6).values<std::int64_t>()[1], 5);
}

TEST(Tensor, ItemReadsOneElementOfAnyType) {
  EXPECT_EQ(scalar(2.5).item(), 2.5);
  EXPECT_EQ(full({1, 1}, -3.0, DType::i64).item(), -3.0);
  EXPECT_EQ(scalar(1.5, DType::bf16).item(), 1.5);
  EXPECT_EQ(scalar(7.0, DType::boolean).item(), 1.0);
  EXPECT_EQ(view::select(arange(5), 0, 3).item(), 3.0);
  EXPECT_EQ(error_message([] { zeros({2}).item(); }),
            "[item] a tensor of shape [2] has 2 elements: item() reads one");
  EXPECT_THROW(zeros({0}).item(), Error);
}

TEST(Tensor, OnlyFloatsRequireGradients) {
  EXPECT_THROW(zeros({2}, DType::i64).requires_grad(), Error);
  EXPECT_THROW(zeros({2}).grad(), Error);
  Tensor x = zeros({2}).requires_grad();
  EXPECT_TRUE(x.tracks_grad());
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(x.detach().tracks_grad());
  EXPECT_THROW(x.set_grad(zeros({3})), Error);
  x.requires_grad(false);
  EXPECT_FALSE(x.tracks_grad());
}

}  // namespace
}  // namespace heed

#include "heed/nn/packed_weight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/kernels/dequantize.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::packed_weight_test {
namespace {

using testing::HasSubstr;

constexpr PackedForm kForms[] = {PackedForm::f32, PackedForm::bf16, PackedForm::int8,
                                 PackedForm::int4};

// |error| <= tolerance max(1, |value|): a matrix of that form against the f32 one.
double tolerance_of(PackedForm form) {
  return form == PackedForm::f32    ? 2e-6
         : form == PackedForm::bf16 ? 0.02
         : form == PackedForm::int8 ? 0.05
                                    : 0.5;
}

TEST(PackedWeight, KnowsItsSizes) {
  const Tensor matrix = randn({17, 5});
  for (const PackedForm form : kForms) {
    const PackedWeight weight(matrix, form);
    EXPECT_EQ(weight.form(), form);
    EXPECT_EQ(weight.out(), 17);
    EXPECT_EQ(weight.in(), 5);
  }
  EXPECT_EQ(PackedWeight(matrix, PackedForm::f32).bytes(), 32 * 5 * 4);
  EXPECT_EQ(PackedWeight(matrix, PackedForm::bf16).bytes(), 32 * 6 * 2);
  EXPECT_EQ(PackedWeight(matrix, PackedForm::int8).bytes(), 32 * 8 + 32 * 8);
  EXPECT_EQ(PackedWeight(matrix, PackedForm::int4).bytes(), 32 * 16 + 32 * 4);
}

TEST(PackedWeight, AProductIsThatOfItsMatrix) {
  Generator generator(1);
  const Tensor matrix = normal({33, 51}, 0.0, 0.14, generator),
               bias = normal({33}, 0.0, 1.0, generator);
  const LinearOptions all[] = {
      {}, {.bias = bias}, {.bias = bias, .activation = kernels::Unary::gelu}};
  for (const PackedForm form : kForms) {
    const PackedWeight weight(matrix, form);
    for (const Shape& shape : {Shape{51}, Shape{1, 51}, Shape{2, 7, 51}, Shape{0, 51}}) {
      const Tensor x = normal(shape, 0.0, 1.0, generator);
      for (const LinearOptions& options : all) {
        const Tensor y = weight.product(x, options, 0, 33);
        EXPECT_LE(test::max_relative_error(y, linear(x, matrix, options)), tolerance_of(form))
            << kernels::name_of(form) << to_string(shape);
      }
    }
  }
}

TEST(PackedWeight, StridedInputs) {
  const Tensor x = view::transpose(randn({51, 7}), 0, 1);  // [7, 51]
  const Tensor strided = view::transpose(randn({51, 33}), 0, 1);
  for (const PackedForm form : kForms) {
    const PackedWeight weight(strided, form), tight(contiguous_copy(strided), form);
    EXPECT_TRUE(test::same_bits(weight.product(x, {}, 0, 33),
                                tight.product(contiguous_copy(x), {}, 0, 33)));
  }
}

TEST(PackedWeight, RangesOfRowsNeedNotBeWholePanels) {
  const Tensor x = randn({3, 51}), matrix = randn({77, 51}), bias = randn({77});
  for (const PackedForm form : kForms) {
    const PackedWeight weight(matrix, form);
    for (const bool activates : {false, true}) {
      LinearOptions options{.bias = bias};
      if (activates) options.activation = kernels::Unary::tanh;
      const Tensor all = weight.product(x, options, 0, 77);
      for (const auto& [begin, end] :
           {std::pair{0, 16}, {16, 48}, {16, 77}, {1, 2}, {5, 77}, {15, 17}, {20, 20}, {33, 50}}) {
        options.bias = view::slice(bias, 0, begin, end);
        const Tensor some = weight.product(x, options, begin, end);
        EXPECT_EQ(some.shape(), (Shape{3, end - begin}));
        EXPECT_TRUE(test::same_bits(contiguous_copy(some),
                                    contiguous_copy(view::slice(all, 1, begin, end))))
            << kernels::name_of(form) << " " << begin << " to " << end;
      }
    }
  }
}

TEST(PackedWeight, RowsAreThoseOfTheMatrix) {
  const Tensor matrix = randn({19, 5});
  for (const PackedForm form : kForms) {
    const PackedWeight weight(matrix, form);
    const Tensor all = weight.matrix();
    EXPECT_EQ(all.shape(), matrix.shape());
    EXPECT_LE(test::max_relative_error(all, matrix), form == PackedForm::f32    ? 0.0
                                                     : form == PackedForm::int4 ? 0.2
                                                                                : 0.02);
    const Tensor ids = from_values<std::int32_t>({18, 0, 7, 7}, {2, 2});
    const Tensor rows = weight.rows(ids);
    ASSERT_EQ(rows.shape(), (Shape{2, 2, 5}));
    for (const auto& [place, id] : {std::pair{0, 18}, {1, 0}, {2, 7}, {3, 7}}) {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(rows.data<float>()[place * 5 + i], all.data<float>()[id * 5 + i]);
      }
    }
    EXPECT_TRUE(
        test::same_bits(weight.rows(from_values<std::int64_t>({18, 0, 7, 7}, {2, 2})), rows));
    EXPECT_EQ(weight.rows(zeros({0}, DType::i32)).shape(), (Shape{0, 5}));
  }
}

TEST(PackedWeight, TakesBf16AndQuantisedMatrices) {
  const Tensor matrix = cast_data(randn({19, 7}), DType::bf16), x = randn({2, 7});
  const Tensor wide = cast_data(matrix, DType::f32);
  for (const PackedForm form : kForms) {
    const PackedWeight narrow(matrix, form), same(wide, form);
    EXPECT_TRUE(test::same_bits(narrow.product(x, {}, 0, 19), same.product(x, {}, 0, 19)));
  }
  EXPECT_TRUE(test::same_bits(PackedWeight(matrix, PackedForm::bf16).matrix(), wide));

  const PackedWeight first(wide, PackedForm::int8);
  const std::vector<std::int8_t> integers = first.integers();
  ASSERT_EQ(integers.size(), 19u * 7u);
  ASSERT_EQ(first.scales().size(), 19u);
  const Tensor numbers = first.matrix();
  for (std::size_t i = 0; i < integers.size(); ++i) {
    EXPECT_EQ(static_cast<float>(integers[i]) * first.scales()[i / 7], numbers.data<float>()[i]);
  }
  const PackedWeight again(QuantizedMatrix{
      .out = 19, .in = 7, .integers = integers.data(), .scales = first.scales().data()});
  EXPECT_EQ(again.form(), PackedForm::int8);
  EXPECT_TRUE(test::same_bits(again.product(x, {}, 0, 19), first.product(x, {}, 0, 19)));
  EXPECT_TRUE(test::same_bits(again.matrix(), numbers));
}

TEST(PackedWeight, AStoredMatrixIsPackedAsATensorIs) {
  constexpr std::int64_t kIn = 32 * 1024, kOut = 50;  // it is read in several parts
  const Tensor matrix = randn({kOut, kIn});
  const Tensor narrow = cast_data(matrix, DType::bf16);
  const auto stored = [&](const Tensor& from) {
    const io::SafetensorsItem item = item_of("", from);
    return StoredMatrix{
        .type = item.type, .out = kOut, .in = kIn, .bytes = item.bytes, .file = nullptr};
  };
  for (const PackedForm form : kForms) {
    EXPECT_TRUE(test::same_bits(PackedWeight(stored(matrix), form).matrix(),
                                PackedWeight(matrix, form).matrix()));
    EXPECT_TRUE(test::same_bits(PackedWeight(stored(narrow), form).matrix(),
                                PackedWeight(narrow, form).matrix()));
  }
  const StoredMatrix none{
      .type = io::TensorType::F32, .out = 0, .in = 7, .bytes = {}, .file = nullptr};
  EXPECT_EQ(PackedWeight(none, PackedForm::int8).out(), 0);
}

TEST(PackedWeight, BlocksOfAGgufFileStayAsTheyAre) {
  constexpr std::int64_t kOut = 19, kIn = 512;
  const auto packed = [&](io::TensorType type, const std::vector<std::byte>& bytes) {
    return PackedWeight(
        StoredMatrix{.type = type, .out = kOut, .in = kIn, .bytes = bytes, .file = nullptr},
        PackedForm::int4);
  };
  const auto numbers = [&](io::TensorType type, const std::vector<std::byte>& bytes) {
    Tensor all = empty({kOut, kIn});
    kernels::dequantize(type, bytes, all.mutable_values<float>());
    return all;
  };
  for (const kernels::test::GgufForm& form : kernels::test::kGgufForms) {
    const std::vector<std::byte> bytes = kernels::test::random_gguf(form.type, kOut, kIn, 5);
    const PackedWeight weight = packed(form.type, bytes);
    EXPECT_EQ(weight.blocks(), form.blocks);
    EXPECT_TRUE(test::same_bits(weight.matrix(), numbers(form.type, bytes)));
  }
  // Q6_K has scales of 16 columns: it is rounded to 8 bits.
  const auto six = io::TensorType::Q6_K;
  std::vector<std::byte> bytes = kernels::test::random_gguf(six, kOut, kIn, 6);
  for (std::size_t at = 208; at < bytes.size(); at += 210) {  // the unit of scales, 2^-9
    bytes[at] = std::byte{0};
    bytes[at + 1] = std::byte{0x18};
  }
  const PackedWeight weight = packed(six, bytes);
  EXPECT_EQ(weight.blocks().bits, 8);
  EXPECT_LE(test::max_relative_error(weight.matrix(), numbers(six, bytes)), 0.05);
}

TEST(PackedWeight, QuantisingWhatWasQuantisedChangesNothing) {
  const PackedWeight first(randn({19, 51}), PackedForm::int8);
  const PackedWeight again(first.matrix(), PackedForm::int8);
  EXPECT_EQ(again.integers(), first.integers());
}

TEST(PackedWeight, NamesMistakes) {
  const auto pack = [](const Tensor& matrix) {
    return error_message([&] { PackedWeight(matrix, PackedForm::int8); });
  };
  EXPECT_THAT(pack(zeros({3})), HasSubstr("[packed_weight] [3] of f32: give a matrix [out, in]"));
  EXPECT_THAT(pack(zeros({3, 3}, DType::f64)), HasSubstr("of f64"));
  EXPECT_THAT(pack(zeros({3, 3}, DType::i32)), HasSubstr("of i32"));
  const PackedWeight weight(zeros({3, 5}), PackedForm::f32);
  EXPECT_THAT(
      error_message([&] {
        weight.product(zeros({2, 4}), {}, 0, 3);
      }),
      HasSubstr("x [2, 4] of f32 and a packed weight [3, 5]: the last size of x must be 5"));
  EXPECT_THAT(error_message([&] { weight.product(zeros({5}, DType::f64), {}, 0, 3); }),
              HasSubstr("its type f32"));
  EXPECT_THAT(error_message([&] { weight.product(zeros({5}), {.bias = zeros({2})}, 0, 3); }),
              HasSubstr("bias [2]: it must be [3]"));
  EXPECT_THAT(error_message([&] { weight.rows(full({1}, 3, DType::i32)); }), HasSubstr("3"));
}

}  // namespace
}  // namespace heed::packed_weight_test

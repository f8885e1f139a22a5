#include "heed/nn/pack_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::pack_weights_test {
namespace {

using testing::HasSubstr;

constexpr PackedForm kForms[] = {PackedForm::f32, PackedForm::bf16, PackedForm::int8,
                                 PackedForm::int4};

// An embedding whose matrix is that of the output layer too.
struct Net : Module {
  Embedding embedding{{.vocabulary = 19, .size = 6}};
  Linear hidden{{.in = 6, .out = 6, .activation = Activation::tanh}};
  Linear output{embedding.weight};
  Tensor scale = ones({6}).requires_grad();

  void visit(ParameterVisitor& v) override {
    v("embedding", embedding);
    v("hidden", hidden);
    v("output", output);
    v("scale", scale);
  }
  Tensor operator()(const Tensor& ids) const {
    const NoGrad no_grad;
    return output(hidden(embedding(ids)));
  }
};

TEST(PackWeights, ResultsAreThoseOfThePlainModel) {
  const Tensor ids = from_values<std::int32_t>({0, 3, 18}, {3});
  for (const PackedForm form : kForms) {
    Net net;
    const Tensor expected = net(ids);
    const std::int64_t count = net.parameter_count();
    pack_weights(net, form);
    EXPECT_LE(test::max_relative_error(net(ids), expected), form == PackedForm::f32    ? 2e-6
                                                            : form == PackedForm::int4 ? 0.4
                                                                                       : 0.1);
    EXPECT_EQ(net.parameter_count(), count);
  }
}

TEST(PackWeights, TiedWeightsStayTied) {
  Net net;
  pack_weights(net, PackedForm::int8);
  EXPECT_TRUE(net.embedding.weight.packed);
  EXPECT_EQ(net.embedding.weight.packed, net.output.weight.packed);
  EXPECT_NE(net.hidden.weight.packed, net.output.weight.packed);
  EXPECT_FALSE(net.embedding.weight.data.defined());
  EXPECT_FALSE(net.output.weight.data.defined());
  EXPECT_TRUE(net.hidden.bias.defined()) << "only matrices of weights are packed";
}

TEST(PackWeights, MatricesWithARowForEachTokenKeepEightBits) {
  Net net;
  pack_weights(net, PackedForm::int4);
  EXPECT_EQ(net.hidden.weight.packed->blocks().bits, 4);
  EXPECT_EQ(net.output.weight.packed->blocks().bits, 8);
}

TEST(PackWeights, AgainInTheSameFormIsFine) {
  Net net;
  pack_weights(net, PackedForm::int8);
  const auto before = net.hidden.weight.packed;
  pack_weights(net, PackedForm::int8);
  EXPECT_EQ(net.hidden.weight.packed, before);
}

TEST(PackWeights, RefusesBeforeItChangesAnything) {
  Net net;
  net.output.weight = Weight(zeros({3, 6}, DType::f64));
  EXPECT_THAT(error_message([&] { pack_weights(net, PackedForm::int8); }),
              HasSubstr("[pack] 'output.weight' is f64"));
  EXPECT_FALSE(net.embedding.weight.packed);
  Net packed;
  pack_weights(packed, PackedForm::int8);
  EXPECT_THAT(error_message([&] { pack_weights(packed, PackedForm::bf16); }),
              HasSubstr("'embedding.weight' is packed as int8 already"));
}

TEST(PackWeights, UnpackingGivesTheNumbersThatProductsUsed) {
  const Tensor ids = from_values<std::int32_t>({0, 3, 18}, {3});
  for (const PackedForm form : kForms) {
    Net net;
    const Tensor before = net.hidden.weight.data;
    pack_weights(net, form);
    const Tensor numbers = net.hidden.weight.packed->matrix();
    unpack_weights(net);
    EXPECT_FALSE(net.hidden.weight.packed);
    EXPECT_TRUE(test::same_bits(net.hidden.weight.data, numbers));
    EXPECT_EQ(net.embedding.weight.data.storage(), net.output.weight.data.storage());
    if (form == PackedForm::f32) {
      EXPECT_TRUE(test::same_bits(net.hidden.weight.data, before));
    }
    unpack_weights(net);  // nothing is left to do
  }
}

}  // namespace
}  // namespace heed::pack_weights_test

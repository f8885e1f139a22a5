// Files of packed weights: what is in them, that they give back the same bits, and refusals.
#include "heed/nn/packed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "heed/autograd/tape.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"
#include "heed/nn/pack_weights.h"
#include "heed/tensor/create.h"
#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::packed_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Net : Module {
  explicit Net(std::uint64_t seed) : generator(seed) {}

  Generator generator;
  Embedding embedding{{.vocabulary = 19, .size = 6}, generator};
  Linear hidden{{.in = 6, .out = 6, .activation = Activation::tanh}, generator};
  Linear output{embedding.weight};

  void visit(ParameterVisitor& v) override {
    v("embedding", embedding);
    v("hidden", hidden);
    v("output", output);
  }
  Tensor operator()(const Tensor& ids) const {
    const NoGrad no_grad;
    return output(hidden(embedding(ids)));
  }
};

class PackedFile : public testing::Test {
 protected:
  // Writes a packed net and returns its results.
  Tensor save(PackedForm form) {
    Net net(1);
    pack_weights(net, form);
    save_packed(net, path_);
    return net(ids_);
  }

  std::string load_error(PackedForm form = PackedForm::int8) {
    Net net(2);
    return error_message([&] { load_packed(net, io::SafetensorsFile::open(path_), form); });
  }

  // Writes the file again; `change` may change each item, or clear its name to leave it out.
  template <typename Change>
  void rewrite(const Change& change) {
    const io::SafetensorsFile file = io::SafetensorsFile::open(path_);
    std::vector<io::SafetensorsItem> items;
    for (const io::SafetensorsEntry& entry : file.entries()) {
      io::SafetensorsItem item{entry.name, *io::find_tensor_type(entry.dtype_name), entry.shape,
                               entry.bytes};
      change(item);
      if (!item.name.empty()) items.push_back(item);
    }
    io::write_safetensors(path_, items);
  }

  TempDir dir_;
  std::filesystem::path path_ = dir_ / "model.safetensors";
  Tensor ids_ = from_values<std::int32_t>({0, 3, 18}, {3});
};

TEST_F(PackedFile, HoldsIntegersAndScales) {
  save(PackedForm::int8);
  const io::SafetensorsFile file = io::SafetensorsFile::open(path_);
  std::vector<std::string> all;
  for (const io::SafetensorsEntry& e : file.entries()) {
    all.push_back(fmt::format("{} {} {}", e.name, e.dtype_name, to_string(e.shape)));
  }
  EXPECT_THAT(
      all, testing::UnorderedElementsAre(
               "embedding.weight I8 [19, 6]", "embedding.weight_scale F32 [19, 1]",
               "hidden.weight I8 [6, 6]", "hidden.weight_scale F32 [6, 1]", "hidden.bias F32 [6]"));
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST_F(PackedFile, GivesTheSameBits) {
  for (const PackedForm form : {PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
    const Tensor expected = save(form);
    Net net(2);
    load_packed(net, io::SafetensorsFile::open(path_), form);
    EXPECT_EQ(packed_form(net), form);
    EXPECT_EQ(net.embedding.weight.packed, net.output.weight.packed);
    EXPECT_TRUE(test::same_bits(net(ids_), expected)) << kernels::name_of(form);
  }
}

// The weight of the output layer is the embeddings', so its remainders have their name.
TEST_F(PackedFile, HoldsTheRemaindersOfRefinedWeights) {
  Net net(1), other(2), without(3), bad(4);
  for (Net* const one : {&net, &other, &without, &bad}) one->output.weight.refined = true;
  pack_weights(net, PackedForm::int8);
  const std::span<const std::int8_t> expected = net.embedding.weight.packed->remainders();
  ASSERT_EQ(expected.size(), 19 * 6);
  EXPECT_TRUE(net.hidden.weight.packed->remainders().empty());
  save_packed(net, path_);

  load_packed(other, io::SafetensorsFile::open(path_), PackedForm::int8);
  EXPECT_THAT(other.output.weight.packed->remainders(), testing::ElementsAreArray(expected));
  EXPECT_THAT(load_error(), HasSubstr("unexpected 'embedding.weight_remainder'"));

  rewrite([](io::SafetensorsItem& item) {
    if (item.name.ends_with("_remainder")) item.type = io::TensorType::U8;
  });
  EXPECT_THAT(
      error_message([&] { load_packed(bad, io::SafetensorsFile::open(path_), PackedForm::int8); }),
      HasSubstr("'embedding.weight_remainder' is U8 [19, 6] in the file and must be I8"));
  rewrite([](io::SafetensorsItem& item) {
    if (item.name.ends_with("_remainder")) item.name.clear();
  });
  load_packed(without, io::SafetensorsFile::open(path_), PackedForm::int8);
  EXPECT_TRUE(without.output.weight.packed->remainders().empty());

  Net plain(1), read(2);
  read.output.weight.refined = true;
  save_parameters(plain, path_);
  load_and_pack(read, io::SafetensorsFile::open(path_), PackedForm::int8);
  EXPECT_THAT(read.output.weight.packed->remainders(), testing::ElementsAreArray(expected));
}

TEST_F(PackedFile, BlocksOfEveryFormGiveTheSameBits) {
  struct One : Module {
    Linear layer{{.in = 512, .out = 19, .bias = false}};
    void visit(ParameterVisitor& v) override { v("layer", layer); }
  };
  for (const kernels::test::GgufForm& form : kernels::test::kGgufForms) {
    SCOPED_TRACE(io::info(form.type).name);
    const std::vector<std::byte> bytes = kernels::test::random_gguf(form.type, 19, 512, 3);
    One net, again;
    net.layer.weight.packed = std::make_shared<const PackedWeight>(
        StoredMatrix{.type = form.type, .out = 19, .in = 512, .bytes = bytes, .file = nullptr},
        PackedForm::int4);
    net.layer.weight.data = {};
    save_packed(net, path_);
    load_packed(again, io::SafetensorsFile::open(path_), PackedForm::int4);
    EXPECT_EQ(again.layer.weight.packed->blocks(), form.blocks);
    EXPECT_TRUE(
        test::same_bits(again.layer.weight.packed->matrix(), net.layer.weight.packed->matrix()));
  }
}

TEST_F(PackedFile, BlocksMayStandBesidePlainWeights) {
  Net net(1), again(2);
  net.hidden.weight.pack(PackedForm::int4);
  net.embedding.weight.pack(PackedForm::bf16);
  net.output.weight = net.embedding.weight;
  save_packed(net, path_);
  EXPECT_EQ(packed_form(net), PackedForm::int4);
  load_packed(again, io::SafetensorsFile::open(path_), PackedForm::int4);
  EXPECT_TRUE(test::same_bits(again(ids_), net(ids_)));
}

TEST_F(PackedFile, SaysWhichTensorsOfBlocksDoNotFit) {
  save(PackedForm::int4);
  rewrite([](io::SafetensorsItem& item) {
    if (item.name == "embedding.weight_scale") item.name.clear();
    if (item.name == "hidden.weight") item.shape = {6, 8, 2};
  });
  EXPECT_THAT(
      load_error(PackedForm::int4),
      AllOf(HasSubstr("missing 'embedding.weight_scale'"),
            HasSubstr("'hidden.weight' is U8 [6, 8, 2] in the file and must be U8 [6, 16]")));
  save(PackedForm::int8);
  EXPECT_THAT(load_error(PackedForm::int4), HasSubstr("and must be"));
}

TEST_F(PackedFile, OfF32IsAPlainFile) {
  const Tensor expected = save(PackedForm::f32);
  Net net(2);
  load_parameters(net, path_);
  EXPECT_LE(test::max_relative_error(net(ids_), expected), 2e-6);
  pack_weights(net, PackedForm::f32);
  EXPECT_TRUE(test::same_bits(net(ids_), expected));
}

TEST_F(PackedFile, PlainWeightsArePackedWhileTheyAreRead) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    Net plain(1);
    plain.to(dtype);
    save_parameters(plain, path_);
    plain.to(DType::f32);
    for (const PackedForm form :
         {PackedForm::f32, PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
      Net expected = plain, net(2);
      pack_weights(expected, form);
      load_and_pack(net, io::SafetensorsFile::open(path_), form);
      EXPECT_TRUE(test::same_bits(net(ids_), expected(ids_))) << name_of(dtype);
      EXPECT_EQ(net.embedding.weight.packed, net.output.weight.packed);
    }
  }
  save(PackedForm::int8);
  Net net(2);
  EXPECT_THAT(error_message(
                  [&] { load_and_pack(net, io::SafetensorsFile::open(path_), PackedForm::int8); }),
              HasSubstr("'hidden.weight' is I8 in the file and must be F32, F64 or BF16"));
}

TEST_F(PackedFile, TiedWeightsMayHaveAnyOfTheirNames) {
  const Tensor expected = save(PackedForm::int8);
  rewrite([](io::SafetensorsItem& item) {
    if (item.name.starts_with("embedding.")) item.name.replace(0, 9, "output");
  });
  Net net(2);
  load_packed(net, io::SafetensorsFile::open(path_), PackedForm::int8);
  EXPECT_TRUE(test::same_bits(net(ids_), expected));
}

TEST_F(PackedFile, SaysWhichTensorsDoNotFit) {
  save(PackedForm::int8);
  rewrite([](io::SafetensorsItem& item) {
    if (item.name == "embedding.weight") item.shape = {6, 19};
    if (item.name == "hidden.weight_scale") item.name.clear();
  });
  EXPECT_THAT(load_error(),
              AllOf(HasSubstr("model.safetensors does not fit"),
                    HasSubstr("'embedding.weight' is [6, 19] in the file, [19, 6] here"),
                    HasSubstr("missing 'hidden.weight_scale'")));
  save(PackedForm::int8);
  rewrite([](io::SafetensorsItem& item) {
    if (item.name == "hidden.weight") item.name.clear();
  });
  EXPECT_THAT(load_error(), HasSubstr("missing 'hidden.weight'"));
  save(PackedForm::int8);
  rewrite([](io::SafetensorsItem& item) {
    if (item.name == "hidden.weight_scale") item.shape = {6};
  });
  EXPECT_THAT(load_error(),
              HasSubstr("'hidden.weight_scale' is F32 [6] in the file and must be F32 [6, 1]"));
  save(PackedForm::int8);
  rewrite([](io::SafetensorsItem& item) {
    if (item.name == "hidden.bias") item.name = "hidden.bios";
  });
  EXPECT_THAT(load_error(),
              AllOf(HasSubstr("missing 'hidden.bias'"), HasSubstr("unexpected 'hidden.bios'")));
  save(PackedForm::bf16);
  EXPECT_THAT(load_error(), HasSubstr("'embedding.weight' is BF16 in the file and must be I8"));
  save(PackedForm::int8);
  EXPECT_THAT(load_error(PackedForm::bf16), HasSubstr("is I8 in the file and must be BF16"));
}

TEST_F(PackedFile, ChecksScalesAndIntegers) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1.0f}) {
    std::vector<float> scales(6, 1.0f);
    scales[4] = bad;
    save(PackedForm::int8);
    rewrite([&](io::SafetensorsItem& item) {
      if (item.name == "hidden.weight_scale") item.bytes = std::as_bytes(std::span(scales));
    });
    EXPECT_THAT(load_error(), AllOf(HasSubstr("'hidden.weight_scale' has the scale"),
                                    HasSubstr("in row 4: scales are finite and not negative")));
  }
  std::vector<std::int8_t> integers(36, 5);
  integers[30] = -128;
  save(PackedForm::int8);
  rewrite([&](io::SafetensorsItem& item) {
    if (item.name == "hidden.weight") item.bytes = std::as_bytes(std::span(integers));
  });
  EXPECT_THAT(load_error(), HasSubstr("'hidden.weight' has -128 as its integer 30"));
}

TEST_F(PackedFile, RefusesWhatCannotBeStoredOrLoaded) {
  Net net(1);
  net.hidden.weight.data.mutable_data<float>()[8] = std::numeric_limits<float>::infinity();
  pack_weights(net, PackedForm::int8);
  EXPECT_THAT(error_message([&] { save_packed(net, path_); }),
              HasSubstr("row 1 of 'hidden.weight' has NaN or infinity"));
  EXPECT_THAT(error_message([&] { save_parameters(net, path_); }), HasSubstr("save_packed()"));
  save(PackedForm::int8);
  EXPECT_THAT(
      error_message([&] { load_packed(net, io::SafetensorsFile::open(path_), PackedForm::int8); }),
      HasSubstr("is packed"));
}

TEST(PackedForm, IsNoneOfAPlainModel) {
  Net net(1);
  EXPECT_EQ(packed_form(net), std::nullopt);
}

}  // namespace
}  // namespace heed::packed_file_test

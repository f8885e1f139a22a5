// Parameters to files and back: exact, strict, all or nothing.
#include "heed/nn/checkpoint_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/nn/linear.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Net : Module {
  explicit Net(std::uint64_t seed = 1) : generator(seed) {}
  Generator generator;
  Linear first{{.in = 3, .out = 4}, generator};
  std::vector<Linear> layers = {Linear({.in = 4, .out = 4}, generator),
                                Linear({.in = 4, .out = 4}, generator)};

  void visit(ParameterVisitor& v) override {
    v("first", first);
    v("layers", layers);
  }
};

bool equal_parameters(const Module& a, const Module& b) {
  const auto x = a.parameters(), y = b.parameters();
  bool equal = x.size() == y.size();
  for (std::size_t i = 0; equal && i < x.size(); ++i) equal = test::same_bits(x[i], y[i]);
  return equal;
}

TEST(CheckpointFile, RoundTripIsExactAndKeepsLeaves) {
  const TempDir dir;
  const Net saved(1);
  Net loaded(2);
  const Tensor handle = loaded.first.weight.data;
  save_parameters(saved, dir / "model.safetensors", {{"made_by", "a test"}});
  const LoadReport report = load_parameters(loaded, dir / "model.safetensors");
  EXPECT_TRUE(equal_parameters(saved, loaded));
  EXPECT_TRUE(test::same_bits(handle, saved.first.weight.data))
      << "handles must see the new values";
  EXPECT_TRUE(loaded.first.weight.data.tracks_grad());
  EXPECT_THAT(report.missing, IsEmpty());
  EXPECT_THAT(report.unexpected, IsEmpty());
  const auto file = io::SafetensorsFile::open(dir / "model.safetensors");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.metadata().at("made_by"), "a test");
  EXPECT_TRUE(file.contains("layers.1.bias"));
}

TEST(CheckpointFile, StrictErrorNamesEverythingAndChangesNothing) {
  const TempDir dir;
  const Net net;
  std::vector<NamedTensor> tensors = net.named_parameters();
  tensors[0].tensor = zeros({4, 5});          // first.weight: another shape
  tensors[2].name = "layers.0.weigth";        // misspelt
  tensors.push_back({"head.x", zeros({2})});  // unknown
  save_tensors(tensors, dir / "bad.safetensors");
  Net target(7);
  const Net before(7);
  const std::string message =
      error_message([&] { load_parameters(target, dir / "bad.safetensors"); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("bad.safetensors does not fit, nothing was loaded"),
                    HasSubstr("'first.weight' is [4, 5] in the file, [4, 3] here"),
                    HasSubstr("missing 'layers.0.weight' (the file has 'layers.0.weigth')"),
                    HasSubstr("unexpected 'head.x'")));
  EXPECT_TRUE(equal_parameters(target, before));
}

TEST(CheckpointFile, LongListsOfProblemsAreCut) {
  const TempDir dir;
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 30; ++i) tensors.push_back({fmt::format("other.{}", i), zeros({1})});
  save_tensors(tensors, dir / "other.safetensors");
  Net net;
  EXPECT_THAT(error_message([&] { load_parameters(net, dir / "other.safetensors"); }),
              HasSubstr("; and 24 more"));
}

TEST(CheckpointFile, LenientLoadReportsWhatItPassedOver) {
  const TempDir dir;
  const Net saved(1);
  std::vector<NamedTensor> tensors = saved.named_parameters();
  tensors.pop_back();  // layers.1.bias
  tensors.push_back({"head.x", zeros({2})});
  save_tensors(tensors, dir / "part.safetensors");
  Net net(2);
  const Tensor kept = clone_data(net.layers[1].bias);
  const LoadReport report = load_parameters(net, dir / "part.safetensors", {.strict = false});
  EXPECT_THAT(report.missing, ElementsAre("layers.1.bias"));
  EXPECT_THAT(report.unexpected, ElementsAre("head.x"));
  EXPECT_TRUE(test::same_bits(net.first.weight.data, saved.first.weight.data));
  EXPECT_TRUE(test::same_bits(net.layers[1].bias, kept));
  tensors[0].tensor = zeros({9});
  save_tensors(tensors, dir / "shape.safetensors");
  EXPECT_THAT(
      error_message([&] { load_parameters(net, dir / "shape.safetensors", {.strict = false}); }),
      HasSubstr("'first.weight' is [9] in the file"));
}

TEST(CheckpointFile, PrefixAndRenameReadOthersNames) {
  const TempDir dir;
  const Net saved(1);
  std::vector<NamedTensor> tensors = saved.named_parameters();
  const std::string theirs[] = {"model.dense.gamma",           "model.dense.beta",
                                "model.encoder.layer.0.gamma", "model.encoder.layer.0.beta",
                                "model.encoder.layer.1.gamma", "model.encoder.layer.1.beta"};
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].name = theirs[i];
  tensors.push_back({"decoder.layer_x", zeros({1})});  // outside the prefix: not loaded
  save_tensors(tensors, dir / "theirs.safetensors");
  Net net(2);
  load_parameters(net, dir / "theirs.safetensors",
                  {.prefix = "model.",
                   .rename = {{"dense", "first"},
                              {"encoder.layer", "layers"},
                              {"gamma", "weight"},
                              {"beta", "bias"}}});
  EXPECT_TRUE(equal_parameters(net, saved));
}

TEST(CheckpointFile, RenameReplacesWholePartsOnly) {
  const TempDir dir;
  save_tensors(std::vector<NamedTensor>{{"layer.layer_norm.sublayer.layer", ones({1})}},
               dir / "x.safetensors");
  Tensor x = zeros({1});
  const std::vector<NamedTensor> wanted = {{"a.b.layer_norm.sublayer.a.b", x}};
  load_tensors(wanted, io::SafetensorsFile::open(dir / "x.safetensors"),
               {.rename = {{"layer", "a.b"}}});
  EXPECT_EQ(x.item(), 1.0);
}

TEST(CheckpointFile, RenamingTwoToOneIsRefused) {
  const TempDir dir;
  save_tensors(std::vector<NamedTensor>{{"a", ones({1})}, {"b", ones({1})}}, dir / "x.safetensors");
  const std::vector<NamedTensor> wanted = {{"a", zeros({1})}};
  EXPECT_THAT(error_message([&] {
                load_tensors(wanted, io::SafetensorsFile::open(dir / "x.safetensors"),
                             {.rename = {{"b", "a"}}});
              }),
              HasSubstr("'a' and 'b' are both 'a' after renaming"));
}

TEST(CheckpointFile, ConvertsElementTypes) {
  const TempDir dir;
  Net stored(1);
  for (const DType dtype : {DType::bf16, DType::f64}) {
    Net copy = stored;
    copy.to(dtype);
    save_parameters(copy, dir / "stored.safetensors");
    Net net(2);
    load_parameters(net, dir / "stored.safetensors");
    EXPECT_EQ(net.first.weight.data.dtype(), DType::f32);
    EXPECT_TRUE(test::same_bits(net.first.weight.data,
                                cast_data(cast_data(stored.first.weight.data, dtype), DType::f32)));
  }
  save_tensors(std::vector<NamedTensor>{{"x", zeros({2}, DType::i64)}}, dir / "i.safetensors");
  const std::vector<NamedTensor> wanted = {{"x", zeros({2})}};
  EXPECT_THAT(error_message(
                  [&] { load_tensors(wanted, io::SafetensorsFile::open(dir / "i.safetensors")); }),
              HasSubstr("'x' is I64 in the file and cannot become f32"));
}

TEST(CheckpointFile, TiedParametersAreSavedOnceAndFoundUnderAnyName) {
  const TempDir dir;
  Net tied(1);
  tied.layers[1].weight = tied.layers[0].weight;
  save_parameters(tied, dir / "tied.safetensors");
  EXPECT_FALSE(io::SafetensorsFile::open(dir / "tied.safetensors").contains("layers.1.weight"));

  Net net(2);
  net.layers[1].weight = net.layers[0].weight;
  load_parameters(net, dir / "tied.safetensors");
  EXPECT_TRUE(equal_parameters(net, tied));

  std::vector<NamedTensor> tensors = tied.named_parameters();
  for (NamedTensor& named : tensors) {
    if (named.name == "layers.0.weight") named.name = "layers.1.weight";
  }
  save_tensors(tensors, dir / "second.safetensors");
  Net other(3);
  other.layers[1].weight = other.layers[0].weight;
  load_parameters(other, dir / "second.safetensors");
  EXPECT_TRUE(equal_parameters(other, tied));

  const Net loose(4);
  save_parameters(loose, dir / "loose.safetensors");
  EXPECT_THAT(error_message([&] { load_parameters(net, dir / "loose.safetensors"); }),
              HasSubstr("'layers.0.weight' and 'layers.1.weight' are tied here and differ"));
}

TEST(CheckpointFile, ReadOnlyParametersAreRefused) {
  const TempDir dir;
  save_tensors(std::vector<NamedTensor>{{"x", ones({2})}}, dir / "x.safetensors");
  const auto file = io::SafetensorsFile::open(dir / "x.safetensors");
  const std::vector<NamedTensor> mapped = {
      {"x", borrow(file.find("x").bytes.data(), DType::f32, {2}, file.keeper())}};
  EXPECT_THAT(error_message([&] { load_tensors(mapped, file); }),
              HasSubstr("'x' is read-only here"));
}

TEST(CheckpointFile, StridedTensorsAreWrittenRowMajor) {
  const TempDir dir;
  const Tensor x = arange(6, DType::f32);
  const Tensor columns(x.storage(), DType::f32, {3, 2}, {1, 3}, 0);
  save_tensors(std::vector<NamedTensor>{{"x", columns}}, dir / "x.safetensors");
  Tensor y = zeros({3, 2});
  load_tensors(std::vector<NamedTensor>{{"x", y}},
               io::SafetensorsFile::open(dir / "x.safetensors"));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>({0, 3, 1, 4, 2, 5}));
}

}  // namespace
}  // namespace heed

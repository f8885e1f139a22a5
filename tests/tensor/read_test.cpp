// Tensors from files: in place or converted, and equal to what PyTorch and the package gguf read.
#include "heed/tensor/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>

#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/reference/dequantize.h"
#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed::read_test {
namespace {

using io::TensorSource;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const Tensor& x) {
  const std::size_t size = size_of(x.dtype());
  return {x.storage()->data() + static_cast<std::size_t>(x.offset()) * size,
          static_cast<std::size_t>(x.numel()) * size};
}

bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool in_place(const Tensor& x, const TensorSource& source) {
  for (const auto& file : source.files()) {
    const auto* data = x.storage()->data();
    if (data >= file->bytes().data() && data < file->bytes().data() + file->bytes().size()) {
      return true;
    }
  }
  return false;
}

// The folder of a model, or empty.
std::filesystem::path model_folder(const std::string& name) {
  const char* set = std::getenv("HEED_MODELS");
  const char* home = std::getenv("HOME");
  const std::filesystem::path all =
      set ? std::filesystem::path(set)
          : std::filesystem::path(home ? home : "") / ".cache" / "heed-models";
  return all / name;
}

#define HEED_NEED_MODEL(path)                                         \
  do {                                                                \
    if (!std::filesystem::exists(path)) {                             \
      GTEST_SKIP() << "skipped: " << (path).string() << " is absent"; \
    }                                                                 \
  } while (false)

TEST(ReadTensor, AFloatOfSafetensorsIsReadInPlace) {
  Tensor x;
  {
    const TensorSource source = TensorSource::open(test::golden_path("linear.safetensors"));
    x = read_tensor(source, "param.weight");
    EXPECT_TRUE(in_place(x, source));
  }
  EXPECT_EQ(x.shape(), Shape({13, 17}));
  EXPECT_TRUE(x.storage()->read_only());
  const auto file = io::SafetensorsFile::open(test::golden_path("linear.safetensors"));
  EXPECT_TRUE(equal_bytes(bytes_of(x), file.find("param.weight").bytes)) << "outlives the source";
}

TEST(ReadTensor, TheTensorsOfPyTorchInBothForms) {
  const auto golden = io::SafetensorsFile::open(test::golden_path("torch_values.safetensors"));
  for (const char* name : {"torch_zip.bin", "torch_old.bin"}) {
    const TensorSource source = TensorSource::open(test::golden_path(name));
    for (const io::SafetensorsEntry& entry : golden.entries()) {
      const Tensor x = read_tensor(source, entry.name);
      EXPECT_EQ(x.shape(), entry.shape) << entry.name;
      EXPECT_EQ(x.dtype(), entry.dtype) << entry.name;
      EXPECT_TRUE(x.contiguous());
      EXPECT_TRUE(equal_bytes(bytes_of(x), entry.bytes)) << name << " " << entry.name;
    }
    EXPECT_THAT(error_message([&] { read_tensor(source, "model.char"); }),
                HasSubstr("tensor \"model.char\" is I8, which heed does not read: it reads F32"));
  }
  const TensorSource source = TensorSource::open(test::golden_path("torch_zip.bin"));
  EXPECT_TRUE(in_place(read_tensor(source, "model.matrix"), source));
  EXPECT_EQ(read_tensor(source, "model.matrix").storage()->data(),
            read_tensor(source, "model.tied").storage()->data())
      << "tied weights stay tied";
  EXPECT_FALSE(in_place(read_tensor(source, "model.transposed"), source)) << "copied";
}

TEST(ReadTensor, BFloat16StaysOrBecomesFloat) {
  const TempDir dir;
  io::write_file(dir / "m.safetensors",
                 io::safetensors_text(R"({"x":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})",
                                      std::string("\x80\x3f\x00\xc0", 4)));
  const TensorSource source = TensorSource::open(dir / "m.safetensors");
  const Tensor wide = read_tensor(source, "x");
  EXPECT_EQ(wide.to_vector<float>(), (std::vector<float>{1.0f, -2.0f}));
  const Tensor kept = read_tensor(source, "x", {.keep_bf16 = true});
  EXPECT_EQ(kept.dtype(), DType::bf16);
  EXPECT_TRUE(in_place(kept, source));
}

TEST(ReadTensor, ABoolMustBeZeroOrOne) {
  const io::AlignedBytes bytes(
      io::safetensors_text(R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "\1\2"));
  TensorSource source(io::SafetensorsFile::parse(bytes.span()));
  EXPECT_EQ(read_tensor(source, "x").to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 2}));
  io::TensorEntry entry = source.find("x");
  entry.type = io::TensorType::BOOL;
  EXPECT_THAT(error_message([&] { read_tensor(source, entry); }),
              HasSubstr("byte 1 of its data is neither 0 nor 1"));
}

TEST(ReadTensor, TheTensorsOfGguf) {
  const TensorSource source = TensorSource::open(test::golden_path("small.gguf"));
  const Tensor f32 = read_tensor(source, "f32");
  EXPECT_TRUE(in_place(f32, source));
  EXPECT_EQ(f32.to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read_tensor(source, "f16").to_vector<float>(),
            (std::vector<float>{0.5f, -2.0f, 65504.0f}));
  EXPECT_EQ(read_tensor(source, "i32").to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{7, 8}));
  const Tensor q = read_tensor(source, "q6_k");
  EXPECT_EQ(q.shape(), Shape({2, 256}));
  std::vector<float> expected(256);
  kernels::reference::dequantize_q6_k(source.find("q6_k").bytes.data() + 210, expected.data());
  EXPECT_TRUE(equal_bytes(std::as_bytes(q.values<float>().subspan(256)),
                          std::as_bytes(std::span(expected))));
}

// Every tensor of a real model against the package gguf: CRC-32 of the float values.
void check_gguf_model(const std::string& name) {
  const auto folder = model_folder(name);
  HEED_NEED_MODEL(folder);
  const io::Value models = io::parse_json(
      io::read_file(test::golden_path("gguf_models.json"), 1 << 24), "gguf_models.json");
  const io::Value::Table& model = *io::find(*models.table(), name)->table();
  const TensorSource source = TensorSource::open(folder / *io::find(model, "file")->string());
  const io::Value::Table& sums = *io::find(model, "crc32")->table();
  EXPECT_EQ(source.entries().size(), sums.size());
  for (const io::Member& sum : sums) {
    const auto bytes = bytes_of(read_tensor(source, sum.key));
    const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    EXPECT_EQ(static_cast<std::int64_t>(crc), *sum.value.integer()) << sum.key;
  }
}

TEST(ReadTensor, SmolLm2AsGguf) { check_gguf_model("smollm2-135m-instruct"); }
TEST(ReadTensor, QwenCoderAsGguf) { check_gguf_model("qwen2.5-coder-0.5b-instruct"); }

// The folder has the same weights as pytorch_model.bin (old form) and as model.safetensors.
TEST(ReadTensor, ARealPyTorchModel) {
  const auto folder = model_folder("opus-mt-en-fr");
  HEED_NEED_MODEL(folder);
  const TensorSource torch = TensorSource::open(folder / "pytorch_model.bin");
  const TensorSource expected = TensorSource::open(folder / "model.safetensors");
  for (const io::TensorEntry& entry : expected.entries()) {
    EXPECT_TRUE(equal_bytes(bytes_of(read_tensor(torch, entry.name)), entry.bytes)) << entry.name;
  }
}

}  // namespace
}  // namespace heed::read_test

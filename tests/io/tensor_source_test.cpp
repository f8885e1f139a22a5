// One view of the tensors of a model: every format, shards, folders.
#include "heed/io/tensor_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/io/safetensors_support.h"
#include "tests/io/torch_support.h"
#include "tests/io/zip_support.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed::io::tensor_source_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::filesystem::path& path) {
  return error_message([&] { TensorSource::open(path); });
}

// A safetensors file with these tensors of one byte each.
std::string bytes_named(const std::vector<std::string>& names) {
  std::string header = R"({"__metadata__":{"format":"pt"})", data;
  for (const std::string& name : names) {
    header += fmt::format(R"(,"{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})", name,
                          data.size(), data.size() + 1);
    data += name[0];
  }
  return safetensors_text(header + "}", data);
}

TEST(TensorSource, OpensEveryFormatByItsContent) {
  const TensorSource gguf = TensorSource::open(test::golden_path("small.gguf"));
  EXPECT_EQ(gguf.format(), "GGUF");
  EXPECT_EQ(gguf.gguf()->text("general.architecture"), "test");
  EXPECT_EQ(gguf.find("q6_k").type, TensorType::Q6_K);
  const TensorSource torch = TensorSource::open(test::golden_path("torch_zip.bin"));
  EXPECT_EQ(torch.format(), "PyTorch");
  EXPECT_EQ(torch.gguf(), nullptr);
  EXPECT_EQ(TensorSource::open(test::golden_path("torch_old.bin")).entries().size(),
            torch.entries().size());
  const TensorSource st = TensorSource::open(test::golden_path("linear.safetensors"));
  EXPECT_EQ(st.format(), "safetensors");
  EXPECT_EQ(st.texts().at("bias"), "true");
  EXPECT_EQ(st.find("in.x").type, TensorType::F32);
  EXPECT_EQ(st.files().size(), 1u);
}

TEST(TensorSource, AMissingNameSuggestsTheNearest) {
  const TensorSource source = TensorSource::open(test::golden_path("torch_zip.bin"));
  EXPECT_TRUE(source.contains("model.matrix"));
  EXPECT_FALSE(source.contains("model.matrx"));
  EXPECT_THAT(error_message([&] { source.find("model.matrx"); }),
              HasSubstr("no tensor \"model.matrx\" among 19: did you mean \"model.matrix\"?"));
}

TEST(TensorSource, KnowsTiedTensors) {
  const TensorSource source = TensorSource::open(test::golden_path("torch_zip.bin"));
  EXPECT_EQ(source.tied_to(source.find("model.tied")), &source.find("model.matrix"));
  EXPECT_EQ(source.tied_to(source.find("model.matrix")), nullptr);
  EXPECT_EQ(source.tied_to(source.find("model.transposed")), nullptr) << "other strides";
  EXPECT_EQ(source.tied_to(source.find("model.row")), nullptr);
}

TEST(TensorSource, JoinsTensorsOfAnotherFile) {
  const TempDir dir;
  write_file(dir / "1.safetensors", bytes_named({"a", "c"}));
  write_file(dir / "2.safetensors", bytes_named({"b", "a"}));
  TensorSource source = TensorSource::open(dir / "1.safetensors");
  source.join(TensorSource::open(dir / "2.safetensors"), "dense.");
  EXPECT_EQ(source.entries().size(), 4u);
  EXPECT_EQ(source.files().size(), 2u);
  EXPECT_EQ(source.find("dense.b").bytes[0], std::byte{'b'});
  EXPECT_EQ(source.find("dense.a").file, 1u);
  EXPECT_EQ(source.find("a").file, 0u);
  EXPECT_FALSE(source.contains("b"));
}

TEST(TensorSource, ReadsShardsOfSafetensorsAndPyTorch) {
  const TempDir dir;
  write_file(dir / "1.st", bytes_named({"a", "c"}));
  write_file(dir / "2.bin",
             zip_text({{.name = "m/data.pkl", .content = pickle_dict({{"b", pickle_tensor({})}})},
                       {.name = "m/data/0", .content = std::string(24, 'x')}}));
  write_file(dir / "model.safetensors.index.json",
             R"({"weight_map":{"a":"1.st","b":"2.bin","c":"1.st"}})");
  const TensorSource source = TensorSource::open(dir.path());
  EXPECT_EQ(source.entries().size(), 3u);
  EXPECT_EQ(source.files().size(), 2u);
  EXPECT_EQ(source.find("a").file, 0u);
  EXPECT_EQ(source.find("b").file, 1u);
  EXPECT_EQ(source.find("c").bytes[0], std::byte{'c'});
  EXPECT_EQ(source.texts().at("format"), "pt");
  EXPECT_THAT(source.name(), HasSubstr("model.safetensors.index.json"));
}

TEST(TensorSource, ShardsMustHaveWhatTheIndexSays) {
  const TempDir dir;
  const auto index = dir / "pytorch_model.bin.index.json";
  write_file(dir / "1.st", bytes_named({"a", "c"}));
  write_file(dir / "2.st", bytes_named({"b"}));
  const auto with = [&](const char* map) {
    write_file(index, map);
    return error_of(index);
  };
  EXPECT_EQ(with(R"({"weight_map":{"a":"1.st","b":"2.st","c":"1.st"}})"), "(no error)");
  EXPECT_THAT(with(R"({"weight_map":{"a":"1.st","b":"3.st","c":"1.st"}})"),
              AllOf(HasSubstr("3.st is missing"), HasSubstr("it has tensor \"b\"")));
  EXPECT_THAT(with(R"({"weight_map":{"a":"1.st","b":"2.st","c":"1.st","d":"2.st"}})"),
              HasSubstr("tensor \"d\" is not in 2.st"));
  EXPECT_THAT(with(R"({"weight_map":{"a":"1.st","b":"1.st","c":"2.st"}})"),
              HasSubstr("tensor \"b\" is not in 1.st but in 2.st"));
  EXPECT_THAT(with(R"({"weight_map":{"a":"1.st","b":"2.st"}})"),
              HasSubstr("the files have 3 tensors, weight_map has 2: \"c\" is not listed"));
  write_file(dir / "2.st", bytes_named({"b", "c"}));
  EXPECT_THAT(with(R"({"weight_map":{"a":"1.st","b":"2.st","c":"1.st"}})"),
              HasSubstr("tensor \"c\" is in two files, 1.st and 2.st"));
}

TEST(TensorSource, FindsTheWeightsOfAFolder) {
  const TempDir dir;
  EXPECT_THAT(error_of(dir.path()), HasSubstr("the folder has no weights"));
  write_file(dir / "x.gguf", read_file(test::golden_path("small.gguf"), 1 << 20));
  EXPECT_EQ(TensorSource::open(dir.path()).format(), "GGUF");
  write_file(dir / "y.gguf", "");
  EXPECT_THAT(error_of(dir.path()), HasSubstr("there are 2 files *.gguf, e.g. x.gguf and y.gguf"));
  write_file(dir / "pytorch_model.bin", read_file(test::golden_path("torch_old.bin"), 1 << 20));
  EXPECT_EQ(TensorSource::open(dir.path()).format(), "PyTorch");
  write_file(dir / "model.safetensors", bytes_named({"a"}));
  EXPECT_EQ(TensorSource::open(dir.path()).format(), "safetensors") << "preferred";
}

TEST(TensorSource, OtherFilesAreRefused) {
  const TempDir dir;
  EXPECT_THAT(error_of(dir / "none.gguf"), HasSubstr("none.gguf"));
  write_file(dir / "lfs.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(error_of(dir / "lfs.safetensors"), HasSubstr("it is a pointer of Git LFS"));
  const ByteBuilder part =
      ByteBuilder().text("GGUF").u32(3).u64(0).u64(1).counted("split.count").u32(2).u16(3);
  write_file(dir / "part.gguf", part.str());
  EXPECT_THAT(error_of(dir / "part.gguf"), HasSubstr("it is one of 3 parts of a model"));
  write_file(dir / "plain.pkl", "\x80\x04N.");
  EXPECT_THAT(error_of(dir / "plain.pkl"), HasSubstr("is it a PyTorch file?"));
  write_file(dir / "text", "hello world, this is text");
  EXPECT_THAT(error_of(dir / "text"), HasSubstr("is it a safetensors file?"));
  write_file(dir / "empty.gguf", "");
  EXPECT_THAT(error_of(dir / "empty.gguf"), HasSubstr("[gguf]"));
}

TEST(TensorSource, TrailingBytesCanBeAllowed) {
  const TempDir dir;
  write_file(dir / "m.st", bytes_named({"a"}) + "more");
  EXPECT_THAT(error_of(dir / "m.st"), HasSubstr("4 bytes follow"));
  EXPECT_EQ(TensorSource::open(dir / "m.st", {.allow_trailing_bytes = true}).entries().size(), 1u);
}

}  // namespace
}  // namespace heed::io::tensor_source_test

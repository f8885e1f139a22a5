// Files of torch.save in both forms, as PyTorch writes them and damaged.
#include "heed/io/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/io/safetensors_support.h"
#include "tests/io/torch_support.h"
#include "tests/io/zip_support.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::io::torch_file_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kOldMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

std::string error_of(const std::string& file) {
  const AlignedBytes bytes(file);
  return error_message([&] { TorchFile::parse(bytes.span(), "m.bin"); });
}

const TensorEntry& entry_of(const TorchFile& file, std::string_view name) {
  for (const TensorEntry& entry : file.entries()) {
    if (entry.name == name) return entry;
  }
  fail("no tensor {}", name);
}

std::string zip_of(const std::string& pickle, std::size_t bytes = 24) {
  return zip_text({{.name = "m/data.pkl", .content = pickle},
                   {.name = "m/data/0", .content = std::string(bytes, 'x')}});
}

std::string old_file(const std::string& pickle, const std::string& rest) {
  return std::string(kOldMagic) + "\x80\x02M\xe9\x03.\x80\x02}" + pickle_text("little_endian") +
         "\x88s." + pickle + rest;
}

TEST(TorchFile, ReadsBothFormsThatPyTorchWrites) {
  for (const char* name : {"torch_zip.bin", "torch_old.bin"}) {
    const TorchFile file = TorchFile::open(test::golden_path(name));
    EXPECT_EQ(file.entries().size(), 19u) << name;
    const TensorEntry& matrix = entry_of(file, "model.matrix");
    EXPECT_EQ(matrix.shape, Shape({3, 4}));
    EXPECT_EQ(matrix.bytes.size(), 48u);
    float last = 0;
    std::memcpy(&last, matrix.bytes.data() + 44, 4);
    EXPECT_EQ(last, 11.0f / 8);
    EXPECT_EQ(entry_of(file, "model.tied").bytes.data(), matrix.bytes.data()) << "shared";
    const TensorEntry& transposed = entry_of(file, "model.transposed");
    EXPECT_EQ(transposed.strides, Strides({1, 4}));
    EXPECT_FALSE(transposed.row_major());
    EXPECT_EQ(entry_of(file, "model.row").bytes.data(), matrix.bytes.data() + 16);
    EXPECT_EQ(entry_of(file, "model.half").type, TensorType::F16);
    EXPECT_EQ(entry_of(file, "model.brain").type, TensorType::BF16);
    EXPECT_EQ(entry_of(file, "model.long").shape, Shape({1, 5}));
    EXPECT_TRUE(entry_of(file, "model.empty").bytes.empty());
    EXPECT_EQ(entry_of(file, "model.parameter").shape, Shape({2, 4}));
    EXPECT_EQ(entry_of(file, "inner.layer.weight").shape, Shape({2, 2}));
    EXPECT_EQ(entry_of(file, "list.0").shape, Shape({2}));
  }
}

TEST(TorchFile, EveryCutIsRefused) {
  for (const char* name : {"torch_zip.bin", "torch_old.bin"}) {
    const auto file = MappedFile::open(test::golden_path(name));
    for (std::size_t size = 0; size < file->bytes().size(); size += 7) {
      EXPECT_THROW(TorchFile::parse(file->bytes().first(size)), Error) << name << " " << size;
    }
  }
}

TEST(TorchFile, ADamagedZipIsRefused) {
  const std::string pickle = pickle_dict({{"w", pickle_tensor({})}});
  EXPECT_EQ(error_of(zip_of(pickle)), "(no error)");
  EXPECT_THAT(error_of(zip_of(pickle, 20)),
              HasSubstr("entry \"m/data/0\" has 20 bytes, 6 elements of F32 need 24"));
  EXPECT_THAT(error_of(zip_of(pickle_dict({{"w", pickle_tensor({.key = "1"})}}))),
              HasSubstr("the zip archive has no entry \"m/data/1\""));
  EXPECT_THAT(error_of(zip_of(pickle + "x")), HasSubstr("1 bytes follow the pickle"));
  EXPECT_THAT(error_of(zip_of(pickle_dict({{"w", "K\x01"}}))), HasSubstr("it has no tensors"));
  EXPECT_THAT(error_of(zip_text({{.name = "x", .content = "y"}})), HasSubstr("no entry data.pkl"));
  EXPECT_THAT(error_of(zip_text({{.name = "m/data.pkl", .content = pickle},
                                 {.name = "m/constants.pkl", .content = ""}})),
              HasSubstr("it is a TorchScript program"));
  EXPECT_THAT(error_of(zip_text({{.name = "m/data.pkl", .content = pickle},
                                 {.name = "n/data.pkl", .content = pickle}})),
              HasSubstr("are both the pickle"));
  EXPECT_THAT(error_of(zip_text({{.name = "m/data.pkl", .content = pickle, .crc_change = 1}})),
              HasSubstr("the checksum of entry \"m/data.pkl\" is wrong"));
  EXPECT_THAT(error_of(zip_text({{.name = "m/data.pkl", .content = pickle},
                                 {.name = "m/byteorder", .content = "big"}})),
              HasSubstr("the byte order is \"big\""));
}

TEST(TorchFile, ADamagedOldFileIsRefused) {
  const std::string pickle = pickle_dict({{"w", pickle_tensor({})}});
  const std::string keys = "\x80\x02]" + pickle_text("0") + "a.";
  const std::string storage = ByteBuilder().u64(6).zeros(24).str();
  EXPECT_EQ(error_of(old_file(pickle, keys + storage)), "(no error)");
  EXPECT_THAT(error_of(old_file(pickle, keys + ByteBuilder().u64(5).zeros(24).str())),
              HasSubstr("storage \"0\" has 5 elements here and 6 in the pickle"));
  EXPECT_THAT(error_of(old_file(pickle, keys + ByteBuilder().u64(6).zeros(23).str())),
              HasSubstr("storage \"0\" at byte"));
  EXPECT_THAT(error_of(old_file(pickle, keys + storage + "x")),
              HasSubstr("1 bytes follow the last storage"));
  EXPECT_THAT(error_of(old_file(pickle, "\x80\x02].")),
              HasSubstr("storage \"0\" is not in the file"));
  EXPECT_THAT(error_of(old_file(pickle, "\x80\x02N.")), HasSubstr("are None, expected a list"));
  EXPECT_THAT(error_of(old_file(pickle, "\x80\x02](" + pickle_text("0") + pickle_text("0") + "e." +
                                            storage + storage)),
              HasSubstr("or that is listed twice: \"0\""));
  EXPECT_THAT(error_of(std::string(kOldMagic) + "\x80\x02K\x01."),
              HasSubstr("the version of the file must be 1001"));
  EXPECT_THAT(error_of(std::string(kOldMagic) + "\x80\x02M\xe9\x03.\x80\x02}" +
                       pickle_text("little_endian") + "\x89s."),
              HasSubstr("the file is big endian"));
}

TEST(TorchFile, OtherFilesAreRefused) {
  EXPECT_THAT(error_of("\x80\x02}."), HasSubstr("is it a PyTorch file?"));
  EXPECT_THAT(error_of(""), HasSubstr("is it a PyTorch file?"));
  const auto recognised = [](std::string_view text) {
    return TorchFile::recognises(std::as_bytes(std::span(text)));
  };
  EXPECT_TRUE(recognised("PK\x03\x04"));
  EXPECT_TRUE(recognised("\x80\x02"));
  EXPECT_FALSE(recognised("GGUF"));
  EXPECT_FALSE(recognised(""));
}

TEST(TorchFile, NothingIsExecuted) {
  const std::string attack = "cos\nsystem\n" + pickle_text("false") + "\x85R";
  EXPECT_THAT(error_of(zip_of(pickle_dict({{"w", attack}}))),
              HasSubstr("global \"os.system\" is not allowed"));
}

}  // namespace
}  // namespace heed::io::torch_file_test

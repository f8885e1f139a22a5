// A file written tensor by tensor: the same bytes as in one go, and nothing without commit.
#include "heed/io/safetensors_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<float> kFloats = {1.0f, -2.0f, 3.5f};
const std::vector<std::uint8_t> kBytes = {1, 0, 1, 1, 1};
const std::vector<std::int64_t> kWide = {1, -1};

std::vector<SafetensorsItem> items() {
  return {{"flags", TensorType::BOOL, {5}, std::as_bytes(std::span(kBytes))},
          {"floats", TensorType::F32, {1, 3}, std::as_bytes(std::span(kFloats))},
          {"nothing", TensorType::F32, {0, 3}, {}},
          {"wide", TensorType::I64, {2}, std::as_bytes(std::span(kWide))}};
}

TEST(SafetensorsStream, WritesTheBytesOfOneGo) {
  const TempDir dir;
  const Metadata metadata = {{"about", "a test"}};
  SafetensorsStream stream(dir / "streamed");
  for (const SafetensorsItem& item : items()) stream.add(item);
  EXPECT_THAT(dir.names(), IsEmpty()) << "neither the target nor anything beside it";
  stream.commit(metadata);
  EXPECT_THAT(dir.names(), ElementsAre("streamed"));
  write_safetensors(dir / "whole", items(), metadata);
  EXPECT_EQ(read_file(dir / "streamed", 10000), read_file(dir / "whole", 10000));
}

TEST(SafetensorsStream, KeepsTheOldFileWithoutCommit) {
  const TempDir dir;
  write_file(dir / "target", "old");
  {
    SafetensorsStream stream(dir / "target");
    stream.add(items()[1]);
  }
  EXPECT_THAT(dir.names(), ElementsAre("target"));
  EXPECT_EQ(read_file(dir / "target", 100), "old");
}

TEST(SafetensorsStream, MayBeEmpty) {
  const TempDir dir;
  SafetensorsStream(dir / "empty").commit();
  EXPECT_TRUE(SafetensorsFile::open(dir / "empty").entries().empty());
}

TEST(SafetensorsStream, NamesMistakes) {
  const TempDir dir;
  EXPECT_THAT(error_message([&] { SafetensorsStream(dir / "no" / "where"); }),
              HasSubstr("cannot create a file in"));
  EXPECT_THAT(error_message([&] { SafetensorsStream stream(dir.path()); }),
              HasSubstr("it is not a file name"));
  SafetensorsStream twice(dir / "twice");
  twice.add(items()[1]);
  twice.add(items()[1]);
  EXPECT_THAT(error_message([&] { twice.commit(); }), HasSubstr("two tensors are named"));
  EXPECT_THAT(dir.names(), IsEmpty());
}

}  // namespace
}  // namespace heed::io

// NumPy files: the bytes that NumPy itself writes, complete or absent.
#include "heed/io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Npy, HeadersAreThoseOfNumpy) {
  const std::string header = npy_header(3, 384);
  EXPECT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 61), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 384), }");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(npy_header(9'000'000'000'000'000'000, 1'000'000).size(), 128U);
}

TEST(Npy, RowsFollowTheHeader) {
  const TempDir dir;
  const std::vector<float> one = {1.0f, 2.0f}, two = {3.0f, 4.0f};
  {
    NpyFile file(dir / "x.npy", 2);
    file.write(one);
    EXPECT_THAT(dir.names(), IsEmpty());
    file.write(two);
    EXPECT_THAT(error_message([&] { file.write(std::vector<float>(3)); }),
                HasSubstr("a row of 3 numbers in a matrix of 2 columns"));
    file.commit();
  }
  const std::string content = read_file(dir / "x.npy", 1 << 20);
  ASSERT_EQ(content.size(), 128U + 4 * sizeof(float));
  EXPECT_EQ(content.substr(0, 128), npy_header(2, 2));
  std::vector<float> values(4);
  std::memcpy(values.data(), content.data() + 128, 4 * sizeof(float));
  EXPECT_EQ(values, (std::vector<float>{1.0f, 2.0f, 3.0f, 4.0f}));
}

TEST(Npy, WithoutCommitThereIsNoFile) {
  const TempDir dir;
  { NpyFile file(dir / "x.npy", 2); }
  EXPECT_THAT(dir.names(), IsEmpty());
}

}  // namespace
}  // namespace heed::io

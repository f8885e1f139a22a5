// Positions that are written to pages and read again, in every form.
#include "heed/kernels/attention/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/dtype.h"
#include "tests/support/values.h"

namespace heed::kernels::page_test {
namespace {

constexpr CacheForm kForms[] = {CacheForm::f32, CacheForm::bf16, CacheForm::int8};

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Keys [16, G, D] and values [16, G, Dv].
struct Positions {
  explicit Positions(const PageShape& shape)
      : shape_(shape),
        keys(test::random_floats(kPagePositions * shape.G * shape.D, 1)),
        values(test::random_floats(kPagePositions * shape.G * shape.Dv, 2)) {}

  void write(std::int64_t slot, std::int64_t count, std::byte* page) const {
    const std::int64_t k = shape_.G * shape_.D, v = shape_.G * shape_.Dv;
    write_positions(shape_, slot, count,
                    {.k = keys.data() + slot * k,
                     .v = values.data() + slot * v,
                     .k_head = shape_.D,
                     .k_position = k,
                     .v_head = shape_.Dv,
                     .v_position = v},
                    page);
  }

  PageShape shape_;
  std::vector<float> keys, values;
};

// The number that a form keeps of x, where `greatest` is the greatest of its position and head.
float kept(CacheForm form, float x, float greatest) {
  if (form == CacheForm::f32) return x;
  if (form == CacheForm::bf16) return static_cast<float>(BFloat16(x));
  return std::nearbyint(x * (127.0f / greatest)) * (greatest / 127.0f);
}

void expect_kept(CacheForm form, const float* given, const float* found, std::int64_t n) {
  float greatest = 0.0f;
  for (std::int64_t i = 0; i < n; ++i) greatest = std::max(greatest, std::abs(given[i]));
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(found[i], kept(form, given[i], greatest)) << i;
}

TEST(Page, KeepsWhatIsWritten) {
  for (const CacheForm form : kForms) {
    for (const PageShape& shape :
         {PageShape{1, 1, 1, form}, PageShape{3, 17, 7, form}, PageShape{2, 64, 65, form}}) {
      const Positions given(shape);
      for (const std::vector<std::int64_t>& parts :
           {std::vector<std::int64_t>{16}, {1, 6}, {7, 9}, {15, 1}, {1, 1, 14}}) {
        std::vector<std::byte> page(index(shape.bytes()), std::byte{0xff});
        std::int64_t count = 0;
        for (const std::int64_t part : parts) {
          given.write(count, part, page.data());
          count += part;
        }
        std::vector<float> k(index(shape.D)), v(index(shape.Dv));
        for (std::int64_t slot = 0; slot < count; ++slot) {
          for (std::int64_t g = 0; g < shape.G; ++g) {
            read_position(shape, page.data(), count, slot, g, k.data(), v.data());
            const std::int64_t at = slot * shape.G + g;
            expect_kept(form, given.keys.data() + at * shape.D, k.data(), shape.D);
            expect_kept(form, given.values.data() + at * shape.Dv, v.data(), shape.Dv);
          }
        }
      }
    }
  }
}

TEST(Page, CopiedPositionsGoOn) {
  for (const CacheForm form : kForms) {
    const PageShape shape{2, 9, 7, form};
    const Positions given(shape);
    std::vector<std::byte> whole(index(shape.bytes())), copy(whole);
    given.write(0, 16, whole.data());
    std::vector<std::byte> begun(whole);
    given.write(0, 6, begun.data());
    copy_positions(shape, 6, begun.data(), copy.data());
    given.write(6, 10, copy.data());
    std::vector<float> k(9), v(7), k2(9), v2(7);
    for (std::int64_t slot = 0; slot < 16; ++slot) {
      read_position(shape, whole.data(), 16, slot, 1, k.data(), v.data());
      read_position(shape, copy.data(), 16, slot, 1, k2.data(), v2.data());
      EXPECT_EQ(k, k2);
      EXPECT_EQ(v, v2);
    }
  }
}

TEST(Page, EightBitsKeepZerosAndShowWhatIsNotFinite) {
  const PageShape shape{1, 3, 3, CacheForm::int8};
  std::vector<std::byte> page(index(shape.bytes()));
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> k = {0, 0, 0, 1, infinity, 2}, v = {1e-38f, 0, 0, 1, 2, 3};
  write_positions(
      shape, 0, 2,
      {.k = k.data(), .v = v.data(), .k_head = 3, .k_position = 3, .v_head = 3, .v_position = 3},
      page.data());
  float found_k[3], found_v[3];
  read_position(shape, page.data(), 2, 0, 0, found_k, found_v);
  for (const float x : found_k) EXPECT_EQ(x, 0.0f);
  for (const float x : found_v) EXPECT_EQ(x, 0.0f);
  read_position(shape, page.data(), 2, 1, 0, found_k, found_v);
  for (const float x : found_k) EXPECT_TRUE(std::isnan(x));
  EXPECT_EQ(found_v[2], 3.0f);
}

}  // namespace
}  // namespace heed::kernels::page_test

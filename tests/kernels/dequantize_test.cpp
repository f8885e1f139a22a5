// Weights of files as floats: the same bits as the package gguf gives, on every instruction set,
// for any address and number of blocks, and as the plain version gives.
#include "heed/kernels/dequantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/reference/dequantize.h"
#include "tests/support/isa_guard.h"
#include "tests/support/paths.h"

namespace heed::kernels {
namespace {

using io::TensorType;
using Plain = void (*)(const std::byte*, float*);

struct DequantizeCase {
  TensorType type;
  Plain plain;
};
constexpr DequantizeCase kDequantizeCases[] = {
    {TensorType::F16, reference::dequantize_f16},   {TensorType::BF16, reference::dequantize_bf16},
    {TensorType::Q4_0, reference::dequantize_q4_0}, {TensorType::Q4_1, reference::dequantize_q4_1},
    {TensorType::Q5_0, reference::dequantize_q5_0}, {TensorType::Q5_1, reference::dequantize_q5_1},
    {TensorType::Q8_0, reference::dequantize_q8_0}, {TensorType::Q4_K, reference::dequantize_q4_k},
    {TensorType::Q5_K, reference::dequantize_q5_k}, {TensorType::Q6_K, reference::dequantize_q6_k},
};

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

// NaN may have any bits.
bool same_bits(float a, float b) { return bits_of(a) == bits_of(b) || (a != a && b != b); }

std::vector<float> plain_values(const DequantizeCase& c, std::span<const std::byte> bytes) {
  const io::TensorTypeInfo& t = io::info(c.type);
  std::vector<float> values(bytes.size() / t.block_bytes * t.block);
  for (std::size_t i = 0; i < values.size() / t.block; ++i) {
    c.plain(bytes.data() + i * t.block_bytes, values.data() + i * t.block);
  }
  return values;
}

std::vector<std::byte> random_bytes(std::size_t n, std::uint64_t seed) {
  const RandomStream random{seed, 1};
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(random.bits(i) & 255);
  return bytes;
}

TEST(Dequantize, TheSameBitsAsThePackageGguf) {
  const auto golden = io::SafetensorsFile::open(test::golden_path("quantised.safetensors"));
  for (const DequantizeCase& c : kDequantizeCases) {
    const std::string name(io::info(c.type).name);
    const auto blocks = golden.find("in." + name).bytes;
    const auto& expected = golden.find("out." + name);
    const auto* values = reinterpret_cast<const float*>(expected.bytes.data());
    const auto n = static_cast<std::size_t>(numel(expected.shape));
    const std::vector<float> plain = plain_values(c, blocks);
    ASSERT_EQ(plain.size(), n) << name;
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(bits_of(plain[i]), bits_of(values[i])) << name << " " << i << " plain";
    }
    test::for_each_isa([&](Isa isa) {
      std::vector<float> y(n);
      dequantize(c.type, blocks, y);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(bits_of(y[i]), bits_of(values[i])) << name << " " << i << " " << name_of(isa);
      }
    });
  }
}

TEST(Dequantize, AnyBitsAtAnyAddressAsThePlainVersion) {
  for (const DequantizeCase& c : kDequantizeCases) {
    const io::TensorTypeInfo& t = io::info(c.type);
    for (const std::size_t blocks : {0, 1, 2, 3, 7, 17, 65, 1000}) {
      for (const std::size_t shift : {0, 1, 3}) {
        const std::vector<std::byte> bytes = random_bytes(blocks * t.block_bytes + shift, blocks);
        const auto from = std::span(bytes).subspan(shift);
        const std::vector<float> plain = plain_values(c, from);
        test::for_each_isa([&](Isa isa) {
          std::vector<float> y(plain.size() + 1, 77.0f);
          dequantize(c.type, from, std::span(y).first(plain.size()));
          for (std::size_t i = 0; i < plain.size(); ++i) {
            ASSERT_TRUE(same_bits(y[i], plain[i]))
                << t.name << " " << i << " of " << plain.size() << " " << name_of(isa);
          }
          ASSERT_EQ(y.back(), 77.0f) << t.name;
        });
      }
    }
  }
}

TEST(Dequantize, EveryF16IsExact) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  test::for_each_isa([&](Isa isa) {
    std::vector<float> y(halves.size());
    dequantize(TensorType::F16, std::as_bytes(std::span(halves)), y);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const int exponent = static_cast<int>(i >> 10 & 31);
      const auto fraction = static_cast<double>(i & 1023);
      double value =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
      if (i >> 15 != 0) value = -value;
      ASSERT_TRUE(same_bits(y[i], static_cast<float>(value))) << i << " " << name_of(isa);
    }
  });
}

TEST(Dequantize, TheSameBitsWithAnyNumberOfThreads) {
  const std::vector<std::byte> bytes = random_bytes(210 * 500, 3);
  std::vector<float> one(256 * 500), three(256 * 500);
  const int before = num_threads();
  set_num_threads(1);
  dequantize(TensorType::Q6_K, bytes, one);
  set_num_threads(3);
  dequantize(TensorType::Q6_K, bytes, three);
  set_num_threads(before);
  EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(float)), 0);
}

TEST(Dequantize, KnowsItsTypes) {
  for (const DequantizeCase& c : kDequantizeCases) EXPECT_TRUE(can_dequantize(c.type));
  EXPECT_FALSE(can_dequantize(TensorType::F32));
  EXPECT_FALSE(can_dequantize(TensorType::IQ4_NL));
  EXPECT_EQ(dequantized_types(), "F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K");
  std::vector<float> y(32);
  EXPECT_THROW(dequantize(TensorType::Q4_0, random_bytes(17, 1), y), InternalError);
  EXPECT_THROW(dequantize(TensorType::F32, random_bytes(128, 1), y), InternalError);
}

}  // namespace
}  // namespace heed::kernels

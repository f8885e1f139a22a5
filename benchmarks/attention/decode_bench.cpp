// Decoding: one query against a KV cache much larger than the last cache level. Compares the bytes
// of keys and values read per second with plain reading of the same bytes in the same rounds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/read_rate.h"
#include "heed/attention/attention.h"
#include "heed/attention/decode.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed::bench {
namespace {

constexpr int kDecodeRounds = 15;
constexpr std::int64_t kHeads = 32;

struct DecodeSizes {
  std::int64_t keys, kv_heads, d;
  DType dtype;
};

struct Decoding {
  KvCache cache;
  Tensor q;  // [1, H, 1, D]
};

Decoding decoding(const DecodeSizes& s) {
  Decoding result{
      KvCache({.heads = s.kv_heads, .features = s.d, .dtype = s.dtype, .capacity = s.keys}),
      randn({1, kHeads, 1, s.d})};
  result.cache.append(randn({1, s.kv_heads, s.keys, s.d}), randn({1, s.kv_heads, s.keys, s.d}));
  return result;
}

std::span<const std::byte> bytes_of(const Tensor& x) {
  return x.dtype() == DType::f32 ? std::as_bytes(x.values<float>())
                                 : std::as_bytes(x.values<BFloat16>());
}

// The error of the first head, against double with the values stored in the cache.
double error_of(const Decoding& x, const Tensor& output) {
  const auto first = [](const Tensor& t) { return cast_data(view::slice(t, 1, 0, 1), DType::f64); };
  const std::vector<double> exact =
      attention(first(x.q), first(x.cache.keys()), first(x.cache.values())).to_vector<double>();
  const std::vector<double> got = first(output).to_vector<double>();
  double worst = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    worst = std::max(worst, std::abs(got[i] - exact[i]));
  }
  return worst;
}

struct Rates {
  double ours = 0.0, read = 0.0;
  std::string_view way;
};

Rates measure(const Decoding& x) {
  const auto keys = bytes_of(x.cache.keys()), values = bytes_of(x.cache.values());
  const auto bytes = static_cast<double>(keys.size() + values.size());
  Rates best;
  attention_decode(x.q, x.cache);
  for (int round = 0; round < kDecodeRounds; ++round) {
    best.ours = std::max(best.ours, bytes / seconds([&] { attention_decode(x.q, x.cache); }));
    for (const ReadWay& way : read_ways()) {
      const double rate = bytes / (time_read(way, keys) + time_read(way, values));
      if (rate > best.read) best.read = rate, best.way = way.name;
    }
  }
  return best;
}

}  // namespace

void attention_decoding(Report& report) {
  for (const std::int64_t kv_heads : {32, 8}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      // 8192 for f32, and the same number of bytes for all: 128 MiB with d 64.
      const std::int64_t keys = 8192 * kHeads / kv_heads * (dtype == DType::f32 ? 1 : 2);
      for (const std::int64_t d : {64, 128}) {
        const Decoding x = decoding({keys, kv_heads, d, dtype});
        for (const int threads : {1, 2}) {
          const Threads use(threads);
          const Rates r = measure(x);
          report.add({"decoding against read bandwidth",
                      fmt::format("{} keys, heads {}:{} d {} {}", keys, kHeads, kv_heads, d,
                                  name_of(dtype)),
                      threads, r.ours / r.read, 0.90, fmt::format("{:.1f} GB/s", r.ours * 1e-9),
                      fmt::format("{:.1f} GB/s read, {}", r.read * 1e-9, r.way),
                      error_of(x, attention_decode(x.q, x.cache))});
        }
      }
    }
  }
}

}  // namespace heed::bench

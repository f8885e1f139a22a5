// Decoding: one query against keys and values much larger than the last cache level, in pages and
// in the cache of one piece. Compares the bytes of keys and values read per second with plain
// reading of as many bytes in the same rounds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/read_rate.h"
#include "heed/attention/attention.h"
#include "heed/attention/decode.h"
#include "heed/attention/paged_cache.h"
#include "heed/io/codec.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed::bench {
namespace {

constexpr int kDecodeRounds = 15;
constexpr std::int64_t kHeads = 32;

struct DecodeSizes {
  std::int64_t keys, kv_heads, d;
};

struct Decoding {
  explicit Decoding(const DecodeSizes& s)
      : q(randn({1, kHeads, 1, s.d})),
        k(randn({1, s.kv_heads, s.keys, s.d})),
        v(randn({1, s.kv_heads, s.keys, s.d})) {}
  // To what bf16 keeps, so that errors are those of the kernel.
  void round() {
    for (Tensor* const x : {&k, &v}) *x = cast_data(cast_data(*x, DType::bf16), DType::f32);
  }
  Tensor q;     // [1, H, 1, D]
  Tensor k, v;  // [1, G, keys, D]
};

// The error of the first head, against double.
double error_of(const Decoding& x, const Tensor& output) {
  const auto first = [](const Tensor& t) { return cast_data(view::slice(t, 1, 0, 1), DType::f64); };
  const std::vector<double> exact =
      attention(first(x.q), first(x.k), first(x.v)).to_vector<double>();
  const std::vector<float> got = output.to_vector<float>();  // the first head comes first
  double worst = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    worst = std::max(worst, std::abs(double{got[i]} - exact[i]));
  }
  return worst;
}

struct Rates {
  double ours = 0.0, read = 0.0;
  std::string_view way;
};

Rates measure(double bytes, const std::function<Tensor()>& attend, const Tensor& plain) {
  const auto memory = std::as_bytes(plain.values<std::uint8_t>());
  Rates best;
  attend();
  for (int round = 0; round < kDecodeRounds; ++round) {
    best.ours = std::max(best.ours, bytes / seconds([&] { attend(); }));
    for (const ReadWay& way : read_ways()) {
      attend();  // a part of what is read twice would still be in the last-level cache
      const double rate = static_cast<double>(memory.size()) / time_read(way, memory);
      if (rate > best.read) best.read = rate, best.way = way.name;
    }
  }
  return best;
}

struct Contest {
  std::string group, name;
  double bytes;
  std::function<Tensor()> attend;
};

void report_contest(Report& report, const Contest& contest, const Decoding& x) {
  constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
  const Tensor plain =
      zeros({static_cast<std::int64_t>(contest.bytes) / kMegabyte * kMegabyte}, DType::u8);
  for (const int threads : {1, 2}) {
    const Threads use(threads);
    const Rates r = measure(contest.bytes, contest.attend, plain);
    report.add({contest.group, contest.name, threads, r.ours / r.read, 0.90,
                fmt::format("{:.1f} GB/s", r.ours * 1e-9),
                fmt::format("{:.1f} GB/s read, {}", r.read * 1e-9, r.way),
                error_of(x, contest.attend())});
  }
}

std::string name_of(const DecodeSizes& s, std::string_view form) {
  return fmt::format("{} keys, heads {}:{} d {} {}", s.keys, kHeads, s.kv_heads, s.d, form);
}

void report_pages(Report& report, const DecodeSizes& s, CacheForm form, const Decoding& x) {
  PagedCache cache({.rows = 1, .heads = s.kv_heads, .features = s.d, .form = form});
  cache.append(x.k, x.v);
  const kernels::PageShape page{s.kv_heads, s.d, s.d, form};
  const auto bytes = static_cast<double>(s.keys / kernels::kPagePositions * page.bytes());
  const auto name = enum_names(form)[static_cast<std::size_t>(form)].name;
  report_contest(report,
                 {"decoding from pages against read bandwidth", name_of(s, name), bytes,
                  [&] { return cache.attend(x.q); }},
                 x);
}

void report_piece(Report& report, const DecodeSizes& s, DType dtype, const Decoding& x) {
  KvCache cache({.heads = s.kv_heads, .features = s.d, .dtype = dtype, .capacity = s.keys});
  cache.append(x.k, x.v);
  const auto bytes =
      static_cast<double>(2 * s.keys * s.kv_heads * s.d) * static_cast<double>(size_of(dtype));
  report_contest(
      report,
      {"decoding from one piece against read bandwidth", name_of(s, heed::name_of(dtype)), bytes,
       [&] { return attention_decode(x.q, cache); }},
      x);
}

}  // namespace

void attention_decoding(Report& report) {
  for (const std::int64_t kv_heads : {32, 8}) {
    for (const std::int64_t d : {64, 128}) {
      // 8192 for f32, and about the same number of bytes for all: 128 MiB with d 64.
      for (const CacheForm form : {CacheForm::f32, CacheForm::bf16, CacheForm::int8}) {
        const DecodeSizes sizes{8192 * kHeads / kv_heads * 4 / kernels::size_of(form), kv_heads, d};
        Decoding x(sizes);
        if (form == CacheForm::bf16) x.round();
        report_pages(report, sizes, form, x);
        if (form == CacheForm::int8) continue;
        report_piece(report, sizes, form == CacheForm::f32 ? DType::f32 : DType::bf16, x);
      }
    }
  }
}

}  // namespace heed::bench

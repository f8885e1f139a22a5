// Products with packed weights of 16, 8 and 4 bits against what bounds them: with one row, the rate
// at which memory can be read; with more, the rate at which the CPU multiplies such numbers. And
// those of int8 against oneDNN.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <limits>
#include <unordered_map>
#include <utility>

#include "benchmarks/suites.h"
#include "benchmarks/support/dot_rate.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/read_rate.h"
#include "heed/kernels/packed/product.h"
#include "heed/nn/packed_weight.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

constexpr double kPackedGoal = 0.85;
constexpr int kPackedRounds = 9;

PackedWeight weight_of(PackedForm form, std::int64_t out, std::int64_t in) {
  if (form != PackedForm::int4) return {randn({out, in}), form};
  const auto read = [](std::int64_t row, kernels::BlockRow& to) {
    std::ranges::fill(to.q, static_cast<std::uint8_t>(row % 16));
    std::ranges::fill(to.scales, std::uint16_t{0x2000});
    std::ranges::fill(to.minima, std::uint16_t{0xa000});
  };
  return PackedWeight(BlockMatrix{.out = out, .in = in, .blocks = {}, .read = read});
}

// The best time of a product, and the best of a measurement taken in turn, larger or smaller.
template <typename Product, typename Limit>
std::pair<double, double> best_of_both(const Product& product, const Limit& limit) {
  const int calls = calls_for(product);
  double seconds = std::numeric_limits<double>::infinity(), best = 0.0;
  for (int i = 0; i < kPackedRounds; ++i) {
    seconds = std::min(seconds, per_call(product, calls));
    best = std::max(best, limit());
  }
  return {seconds, best};
}

// A scale and a sum of int8, a scale and a minimum in F16 of a block.
double bytes_of_weight(PackedForm form) {
  switch (form) {
    case PackedForm::int8:
      return 1.0 + 8.0 / kernels::kScaleColumns;
    case PackedForm::int4:
      return 0.5 + 4.0 / 32.0;
    default:
      return 2.0;
  }
}

// Weights beyond the last-level cache.
void add_one_row(Report& report, PackedForm form, int threads) {
  const Threads use(threads);
  const PackedWeight weight = weight_of(form, 24576, 4096);
  const Tensor x = randn({1, weight.in()});
  const Tensor memory = zeros({weight.bytes() / 4096 * 1024});
  const std::span<const std::byte> bytes = std::as_bytes(memory.values<float>());
  const auto read = [&] {
    double rate = 0.0;
    for (const ReadWay& way : read_ways()) {
      rate = std::max(rate, static_cast<double>(bytes.size()) / time_read(way, bytes) * 1e-9);
    }
    return rate;
  };
  const double read_bytes = static_cast<double>(weight.out() * weight.in()) * bytes_of_weight(form);
  const auto [seconds, limit] = best_of_both([&] { weight.product(x, {}, 0, weight.out()); }, read);
  const double rate = read_bytes / seconds * 1e-9;
  report.add({fmt::format("{} product, one row, against reading memory", name_of(form)),
              fmt::format("{} x {}", weight.out(), weight.in()), threads, rate / limit, kPackedGoal,
              fmt::format("{:.1f} GB/s", rate), fmt::format("{:.1f} GB/s read", limit)});
}

void add_rows(Report& report, PackedForm form, std::int64_t rows) {
  const Threads one(1);
  const PackedWeight weight = weight_of(form, 2048, 2048);
  const Tensor x = randn({rows, weight.in()});
  const auto limit_of = form == PackedForm::bf16   ? bf16_rate
                        : form == PackedForm::int8 ? int8_rate
                                                   : int4_rate;
  const auto [seconds, limit] =
      best_of_both([&] { weight.product(x, {}, 0, weight.out()); }, limit_of);
  const double rate = 2.0 * static_cast<double>(rows * weight.out() * weight.in()) / seconds * 1e-9;
  report.add({fmt::format("{} product against multiplications in registers", name_of(form)),
              fmt::format("{} rows, {} x {}", rows, weight.out(), weight.in()), 1, rate / limit,
              kPackedGoal, fmt::format("{:.0f} GOP/s", rate),
              fmt::format("{:.0f} GOP/s in registers", limit)});
}

// oneDNN's product of bytes, x [rows, in] without sign and w [out, in] with sign, with weights that
// it has packed before. Its results are integers: it neither rounds x nor multiplies by scales.
class OneDnnProduct {
 public:
  OneDnnProduct(std::int64_t rows, std::int64_t out, std::int64_t in) {
    using Memory = dnnl::memory;
    using Type = Memory::data_type;
    using Tag = Memory::format_tag;
    const dnnl::matmul::primitive_desc how(
        dnnl::matmul::desc({{rows, in}, Type::u8, Tag::ab}, {{in, out}, Type::s8, Tag::any},
                           {{rows, out}, Type::s32, Tag::ab}),
        engine_);
    product_ = dnnl::matmul(how);
    arguments_ = {{DNNL_ARG_SRC, Memory(how.src_desc(), engine_)},
                  {DNNL_ARG_WEIGHTS, Memory(how.weights_desc(), engine_)},
                  {DNNL_ARG_DST, Memory(how.dst_desc(), engine_)}};
    for (const auto& [name, memory] : arguments_) {
      std::memset(memory.get_data_handle(), 1, memory.get_desc().get_size());
    }
  }
  void run() {
    product_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::matmul product_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

void add_one_dnn(Report& report, std::int64_t rows, std::int64_t out, std::int64_t in) {
  const Threads one(1);
  omp_set_num_threads(1);
  const PackedWeight weight = weight_of(PackedForm::int8, out, in);
  const Tensor x = randn({rows, in});
  OneDnnProduct theirs(rows, out, in);
  const auto operations = 2.0 * static_cast<double>(rows * out * in) * 1e-9;
  const auto peer = [&] { theirs.run(); };
  const int calls = calls_for(peer);
  const auto [seconds, rate] = best_of_both([&] { weight.product(x, {}, 0, out); },
                                            [&] { return operations / per_call(peer, calls); });
  report.add({"int8 product with scales against oneDNN's without",
              fmt::format("{} rows, {} x {}", rows, out, in), 1, operations / seconds / rate,
              kPackedGoal, fmt::format("{:.0f} GOP/s", operations / seconds),
              fmt::format("{:.0f} GOP/s oneDNN", rate)});
}

}  // namespace

void packed_products(Report& report) {
  for (const PackedForm form : {PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
    for (const int threads : {1, 2}) add_one_row(report, form, threads);
    for (const std::int64_t rows : {8, 64, 512}) add_rows(report, form, rows);
  }
  add_one_dnn(report, 1, 24576, 4096);
  for (const std::int64_t rows : {8, 64, 512}) add_one_dnn(report, rows, 2048, 2048);
}

}  // namespace heed::bench

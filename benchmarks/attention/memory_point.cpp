#include "benchmarks/attention/memory_point.h"

#include <fmt/format.h>

#include "benchmarks/support/fresh_process.h"
#include "benchmarks/support/measure.h"
#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

AttentionSpec spec_of(const std::string& variant) {
  if (variant == "causal") return {.mask = causal()};
  if (variant == "window") return {.mask = window(255, 0)};
  HEED_CHECK(variant == "none", "[bench] no memory of variant '{}'", variant);
  return {};
}

void run(const MemoryPoint& point) {
  const Shape shape = {1, 1, point.n, kMemoryD};
  Tensor q = randn(shape), k = randn(shape), v = randn(shape);
  if (point.direction == "forward") {
    const NoGrad off;
    attention(q, k, v, spec_of(point.variant));
    return;
  }
  for (Tensor* x : {&q, &k, &v}) x->requires_grad();
  const Tensor dy = randn(shape);
  backward(attention(q, k, v, spec_of(point.variant)), dy);
}

}  // namespace

double peak_bytes(const MemoryPoint& point) {
  return number_of_fresh_process(
      fmt::format("{} {} {} {}", kMemoryPoint, point.variant, point.direction, point.n));
}

int print_memory_point(std::span<const std::string_view> words) {
  HEED_CHECK(words.size() == 4, "[bench] {} VARIANT DIRECTION N", kMemoryPoint);
  const MemoryPoint point{std::string(words[1]), std::string(words[2]),
                          std::stoll(std::string(words[3]))};
  const Threads use(2);
  run({point.variant, point.direction, 64});  // allocates what is needed once for any size
  const double before = peak_resident_bytes();
  run(point);
  fmt::print("{}\n", peak_resident_bytes() - before);
  return 0;
}

}  // namespace heed::bench

#include "torture/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "heed/tensor/copy.h"
#include "tests/support/isa_guard.h"
#include "torture/draws.h"

namespace heed::torture {
namespace {

bool only_one_isa = false;

}  // namespace

void keep_isa() { only_one_isa = true; }

void with_isas(const std::function<void(Isa)>& f) {
  if (only_one_isa) return f(current_isa());
  test::for_each_isa(f);
}

double error_of(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!a.defined() || !b.defined() || a.shape() != b.shape()) return kInfinity;
  const std::vector<double> x = cast_data(a, DType::f64).to_vector<double>();
  const std::vector<double> y = cast_data(b, DType::f64).to_vector<double>();
  double worst = 0.0, largest = 1.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return kInfinity;
    worst = std::max(worst, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return worst / largest;
}

void require_close(const Outcome& actual, const Outcome& expected, const Tolerance& tolerance,
                   const std::string& what) {
  // A result without gradients is compared by its output alone.
  for (std::size_t i = 0; i < actual.tensors.size(); ++i) {
    const double error = error_of(actual.tensors[i], expected.tensors[i]);
    const double limit = i == 0 ? tolerance.output : tolerance.gradient;
    if (!(error <= limit)) {
      throw Wrong(fmt::format("{}: {} is {:.2g} away from its twin, more than {:.2g}", what,
                              expected.names[i], error, limit));
    }
  }
}

void require_same_bits(const Outcome& a, const Outcome& b, const std::string& what) {
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor x = contiguous_copy(a.tensors[i]), y = contiguous_copy(b.tensors[i]);
    const std::size_t bytes = static_cast<std::size_t>(x.numel()) * size_of(x.dtype());
    const auto start = [](const Tensor& t) {
      return t.storage()->data() + t.offset() * static_cast<std::int64_t>(size_of(t.dtype()));
    };
    if (x.shape() != y.shape() || (bytes > 0 && std::memcmp(start(x), start(y), bytes) != 0)) {
      throw Wrong(fmt::format("{}: {} has other bits", what, a.names[i]));
    }
  }
}

}  // namespace heed::torture

// Fuzzes the reading of training curves: any text is either rejected with a heed::Error or read
// into points that can be drawn.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/error.h"
#include "heed/training/curves.h"

namespace {

void check(const std::vector<heed::CurvePoint>& points) {
  for (const heed::CurvePoint& point : points) {
    if (point.update <= 0 || !std::isfinite(point.epoch) || !std::isfinite(point.value))
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const bool training : {true, false}) {
    try {
      const heed::Curves curves =
          heed::parse_curves(training ? text : "", training ? "" : text, "run");
      check(curves.training);
      for (const heed::Curve& curve : curves.validation) check(curve.points);
    } catch (const heed::Error&) {
    }
  }
  return 0;
}

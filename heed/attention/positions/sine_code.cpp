#include "heed/attention/positions/sine_code.h"

#include <cmath>
#include <numbers>

namespace heed {

double sine_code(std::int64_t l, std::int64_t f, std::int64_t length) {
  return std::sin(std::numbers::pi * static_cast<double>(l * (f + 1)) /
                  static_cast<double>(length));
}

SineCode::SineCode(const PositionConfig& config, const PositionSizes& sizes)
    : AddedCode("sine_code", sizes.embed, config.max_length),
      table_(0, config.max_length, sizes.embed,
             [length = config.max_length](std::int64_t l, std::int64_t f) {
               return sine_code(l, f, length);
             }) {}

Tensor SineCode::codes(std::int64_t first, std::int64_t count, DType dtype) const {
  return table_.rows(first, count, dtype);  // [count, E]
}

}  // namespace heed

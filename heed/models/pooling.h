// The vector of a text, made from the states of its positions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "heed/io/codec.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Which states make the vector of a text.
enum class Pooling : std::uint8_t {
  mean,   // of all positions
  first,  // the state of the first token, such as [CLS]
  last,   // the state of the last token
};

/// The names that configs use.
constexpr std::array<io::EnumName<Pooling>, 3> enum_names(Pooling) {
  return {{{Pooling::mean, "mean"}, {Pooling::first, "first"}, {Pooling::last, "last"}}};
}

/// How vectors are made; what is left open is as in the model's config.
struct VectorOptions {
  std::optional<Pooling> pooling = {};
  std::optional<bool> normalize = {};  // to length 1
};

/// States [B, T, E] -> [B, E]; the first lengths[b] positions of each text count, all of T if
/// lengths is undefined. The result of a text without positions is 0.
Tensor pool(const Tensor& states, const Tensor& lengths, Pooling pooling);

/// The rows of x [B, E], each divided by its Euclidean length; lengths below 1e-12 count as 1e-12.
Tensor unit_rows(const Tensor& x);

}  // namespace heed

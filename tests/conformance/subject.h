// Inputs of the mechanisms, in the shapes of their forms.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/conformance/conformance.h"

namespace heed::test {

inline constexpr std::int64_t kFeatures = 16;

struct Sizes {
  std::int64_t B = 3, Tq = 11, Tk = 11;
};

/// How a mechanism may be called.
struct Mode {
  std::string name;
  bool memory = false, causal = false, lengths = false, mask = false;
};

/// All that the traits allow.
std::vector<Mode> modes_of(const Traits& traits);

/// A random input; lengths are Tk - b, at least 0.
AttentionInput input_of(const Traits& traits, const Mode& mode, Sizes sizes,
                        DType dtype = DType::f32);
/// Lengths Tk - b, at least 0.
std::int64_t length_of(std::int64_t b, std::int64_t Tk);
/// Whether the mask of Mode::mask lets query i attend to key j.
bool sees(std::int64_t i, std::int64_t j);

/// The layer's result with the same random numbers at every call.
Tensor run(const AttentionLayer& layer, const AttentionInput& in);

/// One sequence of a batch.
AttentionInput sequence(const AttentionInput& in, std::int64_t b);

}  // namespace heed::test

// The random comparisons. A case is a function of a seed; it throws Wrong, or any other error, if
// two ways to compute the same differ, and returns what it compared.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "torture/draws.h"

namespace heed::torture {

/// Fused attention against attention written with ops in double: values and gradients, f32 and
/// bf16, every instruction set, one and three threads.
std::string attention_case(Draws& draws);
/// Packed sequences against one call for each.
std::string packed_case(Draws& draws);
/// A cache that grows, is rewound and reordered, against attention to the same keys and values.
std::string cache_case(Draws& draws);
/// A mechanism of the registry, of any size: f32 against f64, threads, decoding against the whole.
std::string mechanism_case(Draws& draws);
/// A whole model trained for a few updates: threads, resuming, saving, decoding with and without a
/// cache.
std::string model_case(Draws& draws);

struct CaseKind {
  std::string_view name;
  std::string (*run)(Draws& draws);
};

/// All of them.
std::span<const CaseKind> case_kinds();

}  // namespace heed::torture

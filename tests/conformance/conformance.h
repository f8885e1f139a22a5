// What every attention mechanism of the registry must do, whatever it is. Checks return what is
// wrong instead of failing a test, so that the checks themselves can be tested: on layers that are
// broken on purpose.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/attention/registry.h"

namespace heed::test {

/// A mechanism under examination: makes equal layers of 16 features, as often as asked.
struct Subject {
  std::string name;
  Traits traits;
  std::function<std::unique_ptr<AttentionLayer>()> make;
};

/// An entry of the registry with its sample options.
Subject subject_of(const Mechanism& mechanism);

/// One sentence for each promise that is broken.
using Failures = std::vector<std::string>;

/// f32 gives what f64 gives, and f64 runs on the plain twins.
Failures check_precision(const Subject& subject);
/// Gradients of input, memory and every parameter are what differences say.
Failures check_gradients(const Subject& subject);
/// What lengths, causal or a mask hide changes nothing, be it NaN; and a row that sees nothing is
/// finite.
Failures check_hidden(const Subject& subject);
/// The bits of a result depend neither on the number of threads nor on the other sequences; and a
/// sequence alone gives the same to within rounding.
Failures check_independence(const Subject& subject);
/// Decoding step by step gives what the causal call gives, and beams can be reordered.
Failures check_decoding(const Subject& subject);
/// Empty batches and sequences, one position, and odd sizes.
Failures check_sizes(const Subject& subject);
/// Saved and loaded under its name, a layer gives the same bits.
Failures check_saving(const Subject& subject);
/// Weights are there for every position, not negative, and 0 where hidden.
Failures check_weights(const Subject& subject);

/// A check and what it is called.
struct Check {
  std::string name;
  Failures (*run)(const Subject& subject);
};
const std::vector<Check>& all_checks();

}  // namespace heed::test

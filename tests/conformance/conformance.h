// What every attention mechanism of the registry must do. Checks return what is wrong instead of
// failing a test, so that the checks themselves can be tested, on layers that are broken on
// purpose.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention/registry.h"

namespace heed::test {

/// A mechanism under test: each call of make() returns an equal layer of 16 features.
struct Subject {
  std::string name;
  Traits traits;
  std::function<std::unique_ptr<AttentionLayer>()> make;
};

/// An entry of the registry with its sample options and more, "key=value key=value".
Subject subject_of(const Mechanism& mechanism, std::string_view more = "");

/// One sentence for each failure.
using Failures = std::vector<std::string>;

/// Results in f32 equal those in f64, which the plain twins compute.
Failures check_precision(const Subject& subject);
/// Gradients of input, memory and every parameter equal central differences. Those of a
/// straight-through mechanism are finite and not 0.
Failures check_gradients(const Subject& subject);
/// Positions that lengths, causal or a mask hide change nothing, even if they are NaN; the result
/// of a query without visible keys is finite.
Failures check_hidden(const Subject& subject);
/// The bits of a result depend neither on the number of threads nor on the other sequences. A
/// sequence alone gives the same within rounding.
Failures check_independence(const Subject& subject);
/// Decoding step by step equals the causal call, and beams can be reordered. Weights of the steps,
/// where a mechanism gives them, are the rows of the causal call's, and change no result.
Failures check_decoding(const Subject& subject);
/// Empty batches and sequences, one position, and odd sizes.
Failures check_sizes(const Subject& subject);
/// A layer that was saved and loaded gives the same bits.
Failures check_saving(const Subject& subject);
/// A call gives weights for every position, finite and 0 where hidden; two calls give the same
/// bits, and the result has the same bits with weights and without.
Failures check_weights(const Subject& subject);

/// A check and its name.
struct Check {
  std::string name;
  Failures (*run)(const Subject& subject);
};
const std::vector<Check>& all_checks();

}  // namespace heed::test

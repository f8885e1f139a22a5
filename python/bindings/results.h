// What a call of attention returns to Python besides the output: what was requested, what was
// observed, and its conversion.
#pragma once

#include <optional>
#include <string>

#include "python/bindings/request.h"

namespace heed::python {

/// What is returned besides the output.
struct Wanted {
  bool weights = false;
  bool log_sum_exp = false;
  std::optional<std::string> scores;  ///< The stage of the scores: "raw", "modified" or "masked".
  bool present = false;

  bool anything() const { return weights || log_sum_exp || scores || present; }
};

Wanted wanted_of(bool weights, bool log_sum_exp, nb::handle scores, bool present);

/// The observed tensors, as far as they were requested.
struct Seen {
  Tensor weights, scores, log_sum_exp;
};

/// Adds observers to the spec. `seen` must outlive the call.
void observe(Request::Prepared& ready, const Wanted& wanted, Seen& seen);

/// Converts a result [B, H, …] to an array in the caller's shape.
nb::object give(const Tensor& result, const Shape& lead, const Array& like);

/// The output alone, or a tuple of the output and everything else that was requested.
nb::object gather(nb::object output, const Request& request, const Request::Prepared& ready,
                  const Wanted& wanted, const Seen& seen);

}  // namespace heed::python

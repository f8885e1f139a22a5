// What a call of attention returns to Python, besides the output: what was wanted, what was seen,
// and how it is handed over.
#pragma once

#include <optional>
#include <string>

#include "python/bindings/request.h"

namespace heed::python {

/// What is returned besides the output.
struct Wanted {
  bool weights = false;
  bool log_sum_exp = false;
  std::optional<std::string> scores;  ///< The stage of them: "raw", "modified" or "masked".
  bool present = false;

  bool anything() const { return weights || log_sum_exp || scores || present; }
};

Wanted wanted_of(bool weights, bool log_sum_exp, nb::handle scores, bool present);

/// What was observed, as far as it was wanted.
struct Seen {
  Tensor weights, scores, log_sum_exp;
};

/// Adds observers to the spec. `seen` must outlive the call.
void observe(Request::Prepared& ready, const Wanted& wanted, Seen& seen);

/// A result [B, H, …] as an array in the caller's shape.
nb::object give(const Tensor& result, const Shape& lead, const Array& like);

/// The output alone, or a tuple with what else was wanted behind it.
nb::object gather(nb::object output, const Request& request, const Request::Prepared& ready,
                  const Wanted& wanted, const Seen& seen);

}  // namespace heed::python

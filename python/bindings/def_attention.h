// The list of arguments of an attention call from Python.
#pragma once

#include "python/bindings/results.h"

namespace heed::python {

/// Defines a function with all the arguments of heed.attention as f(Arguments, Wanted, out).
template <class F, class... Extra>
void def_attention(nb::module_& m, const char* name, F f, const Extra&... extra) {
  m.def(
      name,
      [f](nb::handle q, nb::handle k, nb::handle v, nb::handle score, nb::handle modifiers,
          nb::handle mask, nb::handle normaliser, std::optional<Real> scale, Real dropout,
          std::optional<std::uint64_t> seed, bool enable_gqa, bool return_weights, bool return_lse,
          nb::handle return_scores, nb::handle out, nb::handle past_key, nb::handle past_value,
          bool return_present) {
        return f(Arguments{q, k, v, score, modifiers, mask, normaliser, scale, dropout, seed,
                           enable_gqa, past_key, past_value},
                 wanted_of(return_weights, return_lse, return_scores, return_present), out);
      },
      nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::kw_only(), nb::arg("score") = "scaled_dot",
      nb::arg("modifiers") = nb::tuple(), nb::arg("mask") = nb::none(),
      nb::arg("normaliser") = "softmax", nb::arg("scale") = nb::none(), nb::arg("dropout") = 0.0,
      nb::arg("seed") = nb::none(), nb::arg("enable_gqa") = false,
      nb::arg("return_weights") = false, nb::arg("return_lse") = false,
      nb::arg("return_scores") = nb::none(), nb::arg("out") = nb::none(),
      nb::arg("past_key") = nb::none(), nb::arg("past_value") = nb::none(),
      nb::arg("return_present") = false, extra...);
}

}  // namespace heed::python

// Mechanisms whose results change a little when their inputs do.
#pragma once

#include "heed/attention/mechanism.h"

namespace heed::torture {

/// False if rounding may change which keys a query attends to: samples, orders by hashes or scores,
/// windows around computed centres.
inline bool is_smooth(const Mechanism& mechanism) {
  return mechanism.traits.gradient == Gradient::exact && mechanism.name != "lsh" &&
         mechanism.name != "top_k" && mechanism.name != "local_p";
}

}  // namespace heed::torture

// A window with gaps: neighbours at every so many positions, as in dilated convolutions (WaveNet,
// van den Oord et al. 2016) and Longformer's higher layers (Beltagy et al. 2020). What lies beyond
// the window costs nothing; what lies in its gaps is computed and thrown away.
#pragma once

#include <cstdint>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"

namespace heed {

/// A query at position p sees keys p + n step for n from -left to right.
struct DilatedWindow {
  std::int64_t left = 0, right = 0;
  std::int64_t step = 1;
};
Mask dilated_window(const DilatedWindow& window, Corner corner = Corner::top_left);

}  // namespace heed

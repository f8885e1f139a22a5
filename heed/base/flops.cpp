#include "heed/base/flops.h"

namespace heed {

FlopCounter::FlopCounter() : outer_(detail::flop_counter) { detail::flop_counter = this; }

FlopCounter::~FlopCounter() {
  detail::flop_counter = outer_;
  add_flops(count_);
}

}  // namespace heed

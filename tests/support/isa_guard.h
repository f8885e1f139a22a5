// Runs a piece of a test on one instruction set and then returns to the one before.
#pragma once

#include "heed/base/isa.h"

namespace heed::test {

/// Forces an instruction set for as long as it lives.
class IsaGuard {
 public:
  explicit IsaGuard(Isa isa) { set_isa(isa); }
  ~IsaGuard() { set_isa(before_); }
  IsaGuard(const IsaGuard&) = delete;
  IsaGuard& operator=(const IsaGuard&) = delete;

 private:
  Isa before_ = current_isa();
};

/// Calls f once per instruction set that can run here, with that set in force: `f(isa)`.
template <typename F>
void for_each_isa(F&& f) {
  for (const Isa isa : available_isas()) {
    const IsaGuard guard(isa);
    f(isa);
  }
}

}  // namespace heed::test

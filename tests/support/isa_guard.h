// Runs a piece of a test on one instruction set and then returns to the one before.
#pragma once

#include <cstdlib>
#include <vector>

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

/// All instruction sets that can run here, or the one that HEED_ISA names: a run of the tests for
/// one set does not test the others again.
inline std::vector<Isa> tested_isas() {
  const char* const forced = std::getenv("HEED_ISA");
  return forced != nullptr && *forced != '\0' ? std::vector{current_isa()} : available_isas();
}

/// Calls f once per tested instruction set, with that set in force: `f(isa)`.
template <typename F>
void for_each_isa(F&& f) {
  for (const Isa isa : tested_isas()) {
    const IsaGuard guard(isa);
    f(isa);
  }
}

}  // namespace heed::test

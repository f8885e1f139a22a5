// Drawing the same random numbers twice, for parts of a network that are computed again in the
// backward pass.
#pragma once

#include "heed/base/random.h"

namespace heed {

/// Sets the default generator to an earlier state for the lifetime of the object.
class Replay {
 public:
  explicit Replay(Generator::State state) : now_(default_generator().state()) {
    default_generator().restore(state);
  }
  ~Replay() { default_generator().restore(now_); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

 private:
  Generator::State now_;
};

}  // namespace heed

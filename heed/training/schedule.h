// Learning-rate schedules: pure functions of the number of the update, so they have no state to
// save, and a resumed run continues correctly. Updates count from 1.
#pragma once

#include <array>
#include <cstdint>

#include "heed/io/fields.h"

namespace heed {

enum class Schedule : std::uint8_t {
  constant,      // peak
  inverse_sqrt,  // peak * sqrt(warmup / step), as in fairseq
  noam,    // factor * model_size^-0.5 * min(step^-0.5, step * warmup^-1.5), Vaswani et al. 2017
  cosine,  // half a cosine from peak down to min at step total (Loshchilov and Hutter 2017)
  linear,  // a line from peak down to min at step total
};

/// The names that configs use.
constexpr std::array<io::EnumName<Schedule>, 5> enum_names(Schedule) {
  return {{{Schedule::constant, "constant"},
           {Schedule::inverse_sqrt, "inverse_sqrt"},
           {Schedule::noam, "noam"},
           {Schedule::cosine, "cosine"},
           {Schedule::linear, "linear"}}};
}

/// All except noam rise linearly from `start` to `peak` over the first `warmup` updates.
struct ScheduleConfig {
  Schedule kind = Schedule::inverse_sqrt;
  double peak = 3e-4;
  double start = 0.0;
  double min = 0.0;
  std::int64_t warmup = 4000;
  std::int64_t total = 100000;
  double factor = 1.0;
  std::int64_t model_size = 512;

  void fields(io::Fields& field);
  /// Throws heed::Error if members do not fit together.
  void validate() const;
};

/// The learning rate of update `step` (from 1).
double rate(const ScheduleConfig& schedule, std::int64_t step);

}  // namespace heed

#include "heed/training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed {
namespace {

// The progress of the decay: 0 at the end of the warm-up, 1 at `total` and after.
double progress(const ScheduleConfig& s, double step) {
  const auto warmup = static_cast<double>(s.warmup);
  return std::min(1.0, (step - warmup) / (static_cast<double>(s.total) - warmup));
}

double noam(const ScheduleConfig& s, double step) {
  const auto warmup = static_cast<double>(s.warmup);
  return s.factor / std::sqrt(static_cast<double>(s.model_size)) *
         std::min(1.0 / std::sqrt(step), step * std::pow(warmup, -1.5));
}

double after_warmup(const ScheduleConfig& s, double step) {
  switch (s.kind) {
    case Schedule::constant:
      return s.peak;
    case Schedule::inverse_sqrt:
      return s.peak * std::sqrt(std::max(1.0, static_cast<double>(s.warmup)) / step);
    case Schedule::noam:
      return noam(s, step);
    case Schedule::cosine:
      return s.min +
             (s.peak - s.min) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress(s, step)));
    case Schedule::linear:
      return s.min + (s.peak - s.min) * (1.0 - progress(s, step));
  }
  __builtin_unreachable();
}

}  // namespace

void ScheduleConfig::fields(io::Fields& field) {
  field("kind", kind, "schedule of the learning rate");
  field("peak", peak, "highest learning rate (not for noam)", {.min = 0, .max = 1000});
  field("start", start, "learning rate at the start of the warm-up", {.min = 0, .max = 1000});
  field("min", min, "final learning rate of cosine and linear", {.min = 0, .max = 1000});
  field("warmup", warmup, "number of updates until the peak", {.min = 0});
  field("total", total, "number of updates until cosine and linear reach min", {.min = 1});
  field("factor", factor, "noam: factor of its formula", {.min = 0, .max = 1e6});
  field("model_size", model_size, "noam: size of the model", {.min = 1, .max = 1 << 30});
}

void ScheduleConfig::validate() const {
  HEED_CHECK(warmup >= 0, "[schedule] warmup {}: it must not be negative", warmup);
  const bool ends = kind == Schedule::cosine || kind == Schedule::linear;
  HEED_CHECK(!ends || total > warmup, "[schedule] total {} is not beyond warmup {}", total, warmup);
  HEED_CHECK(!ends || min <= peak, "[schedule] min {} is above peak {}", min, peak);
  HEED_CHECK(kind == Schedule::noam || start <= peak, "[schedule] start {} is above peak {}", start,
             peak);
  HEED_CHECK(kind != Schedule::noam || (warmup > 0 && model_size > 0),
             "[schedule] noam needs a warmup and a model_size above 0, not {} and {}", warmup,
             model_size);
}

double rate(const ScheduleConfig& schedule, std::int64_t step) {
  HEED_CHECK(step >= 1, "[schedule] step {}: updates count from 1", step);
  schedule.validate();
  const auto number = static_cast<double>(step);
  if (step < schedule.warmup && schedule.kind != Schedule::noam) {
    return schedule.start +
           number * (schedule.peak - schedule.start) / static_cast<double>(schedule.warmup);
  }
  return after_warmup(schedule, number);
}

}  // namespace heed

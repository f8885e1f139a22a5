#include "benchmarks/models/point.h"

#include <fmt/format.h>

#include <string>

#include "benchmarks/models/cases.h"
#include "benchmarks/support/fresh_process.h"
#include "benchmarks/support/measure.h"
#include "heed/base/error.h"

namespace heed::bench {
namespace {

void run_steps(TrainedModel& model, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) model.step(i % model.batches());
}

}  // namespace

double model_peak_bytes(std::string_view model) {
  return number_of_fresh_process(fmt::format("{} memory {}", kModelPoint, model));
}

int print_model_point(std::span<const std::string_view> words) {
  const bool memory = words.size() == 3 && words[1] == "memory";
  HEED_CHECK(memory || (words.size() == 4 && words[1] == "steps"),
             "[bench] {0} memory MODEL, or {0} steps MODEL COUNT", kModelPoint);
  const Threads use(2);
  const double before = peak_resident_bytes();
  const auto model = model_case(words[2]).make();
  run_steps(*model, memory ? 2 * model->batches() : std::stoll(std::string(words[3])));
  if (memory) fmt::print("{}\n", peak_resident_bytes() - before);
  return 0;
}

}  // namespace heed::bench

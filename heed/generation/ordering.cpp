#include "heed/generation/ordering.h"

#include <algorithm>
#include <numeric>

#include "heed/io/config.h"

namespace heed {

void OrderingOptions::fields(io::Fields& field) {
  field("window", window, "sentences that are sorted by length together",
        {.min = 1, .max = 1 << 30});
  field("batch_tokens", batch_tokens, "tokens of a batch: number of sentences times the longest",
        {.min = 1, .max = 1 << 30});
  field("batch_sentences", batch_sentences, "maximum number of sentences of a batch",
        {.min = 1, .max = 1 << 20});
}

void OrderingOptions::validate() const { io::check_limits(*this, "ordering"); }

std::vector<std::vector<std::int64_t>> plan_batches(std::span<const std::int64_t> lengths,
                                                    const OrderingOptions& options) {
  const auto length_of = [&](std::int64_t place) {
    return std::max<std::int64_t>(1, lengths[static_cast<std::size_t>(place)]);
  };
  std::vector<std::int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return length_of(a) > length_of(b); });

  std::vector<std::vector<std::int64_t>> batches;
  for (const std::int64_t place : order) {
    const bool fits =
        !batches.empty() && std::ssize(batches.back()) < options.batch_sentences &&
        std::ssize(batches.back()) < options.batch_tokens / length_of(batches.back().front());
    if (!fits) batches.emplace_back();
    batches.back().push_back(place);
  }
  const auto earliest = [](const std::vector<std::int64_t>& batch) {
    return *std::min_element(batch.begin(), batch.end());
  };
  std::sort(batches.begin(), batches.end(),
            [&](const auto& a, const auto& b) { return earliest(a) < earliest(b); });
  return batches;
}

void for_batches(
    std::span<const std::int64_t> lengths, const OrderingOptions& options, const OnStep& on_step,
    FunctionRef<void(std::span<const std::int64_t> places, const OnStep& on_step)> run) {
  const std::vector<std::vector<std::int64_t>> batches = plan_batches(lengths, options);
  run_batches(std::ssize(batches), on_step, [&](std::int64_t number, const OnStep& checked) {
    run(batches[static_cast<std::size_t>(number)], checked);
  });
}

}  // namespace heed

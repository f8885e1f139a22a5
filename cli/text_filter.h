// The loop of filters that compute something for each line of text by itself: lines are read,
// sorted by length into batches, and their results written in the order of the lines.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/filter_io.h"
#include "heed/generation/ordering.h"

namespace heed::cli {

/// What a filter does with its lines. Input has size(), the number of its tokens.
template <typename Input, typename Result>
struct TextFilter {
  std::function<Input(const std::string& line, const std::string& place)> read;
  std::function<std::vector<Result>(const std::vector<Input>& batch)> compute;
  std::function<void(const Result& result)> write;
};

/// Runs a filter over all lines.
template <typename Input, typename Result>
void filter_texts(TextLines& lines, const OrderingOptions& ordering,
                  const TextFilter<Input, Result>& work) {
  using Filter = OrderedFilter<Input, Result>;
  Filter filter(
      ordering,
      [&](std::span<const typename Filter::Item> items, const OnStep&) {
        std::vector<Input> batch;
        for (const auto& item : items) batch.push_back(item.input);
        return work.compute(batch);
      },
      [&](std::int64_t, const Result& result) { work.write(result); }, check_signals);
  feed_lines(
      lines,
      [&](const std::string& line) {
        Input input = work.read(line, lines.place());
        const std::int64_t length = input.size();
        filter.add(std::move(input), length);
      },
      [&] { filter.flush(); });
  if (!lines.describe_bad().empty()) print_note("bad lines: " + lines.describe_bad());
}

}  // namespace heed::cli

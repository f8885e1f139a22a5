#include "heed/data/element_sets.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/io/lines.h"
#include "heed/io/value.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr std::string_view kOutput = "output";

// Takes the next word off a line; empty at its end.
std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, std::min(line.find_first_of(" \t\r"), line.size()));
  line.remove_prefix(word.size());
  return word;
}

template <typename T>
std::optional<T> number_of(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

LineFault fault(std::string what) { return {BadLine::columns, std::move(what)}; }

std::optional<LineFault> read_positions(std::string_view line, const ElementReading& reading,
                                        std::int64_t elements, ElementSet& set) {
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const auto position = number_of<std::int32_t>(word);
    if (!position || *position < 1 || *position > elements) {
      return fault(fmt::format("points at {}: positions are from 1 to {}, its number of elements",
                               io::in_quotes(word), elements));
    }
    if (reading.each_once && std::ranges::find(set.pointed, *position) != set.pointed.end()) {
      return fault(
          fmt::format("points at element {} twice, and the model points at each once", *position));
    }
    set.pointed.push_back(*position);
  }
  return {};
}

}  // namespace

std::optional<LineFault> parse_elements(std::string_view line, const ElementReading& reading,
                                        ElementSet& set) {
  set = {};
  if (auto found = find_fault(line, std::numeric_limits<std::size_t>::max())) return found;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    set.has_output = word == kOutput;
    if (set.has_output) break;
    const auto number = number_of<float>(word);
    if (!number || !std::isfinite(*number)) {
      return fault(fmt::format("has {} where a number is expected", io::in_quotes(word)));
    }
    set.numbers.push_back(*number);
  }
  const std::int64_t count = std::ssize(set.numbers);
  if (count == 0 || count % reading.features != 0) {
    return fault(fmt::format("has {} numbers: elements have {} each", count, reading.features));
  }
  if (!set.has_output) return {};
  return read_positions(line, reading, count / reading.features, set);
}

std::string elements_line(const ElementSet& set) {
  std::string line;
  for (const float number : set.numbers) {
    line += fmt::format("{}{:.6f}", line.empty() ? "" : " ", number);
  }
  if (set.has_output) line += " output";
  for (const std::int32_t position : set.pointed) line += fmt::format(" {}", position);
  return line;
}

void ElementCorpus::add(const ElementSet& set) {
  numbers.insert(numbers.end(), set.numbers.begin(), set.numbers.end());
  starts.push_back(std::ssize(numbers) / features);
  pointed.add(set.pointed);
}

ElementCorpus read_elements(const std::filesystem::path& path, const ElementReading& reading) {
  io::LineReader reader(path);
  ElementCorpus corpus{.features = reading.features};
  ElementSet set;
  for (std::string line; reader.next(line);) {
    auto found = parse_elements(line, reading, set);
    if (!found && !set.has_output) {
      found = fault("has no \"output\" with the positions to point at");
    }
    if (found) {
      corpus.bad.add(*found, reader.place(), reading.on_bad);
    } else {
      corpus.add(set);
    }
  }
  return corpus;
}

ElementBatch make_batch(const ElementCorpus& corpus, std::span<const std::int32_t> sets) {
  const std::int64_t B = std::ssize(sets), F = corpus.features;
  std::int64_t T = 0, P = 0;
  for (const std::int32_t i : sets) {
    T = std::max(T, corpus.elements(i));
    P = std::max(P, corpus.pointed.length(i) + 1);
  }
  ElementBatch batch{.elements = zeros({B, T, F}),
                     .lengths = empty({B}, DType::i64),
                     .pointed = zeros({B, P}, DType::i64),
                     .expected = full({B, P}, static_cast<double>(kNoPosition), DType::i64)};
  float* numbers = batch.elements.mutable_data<float>();
  auto* length = batch.lengths.mutable_data<std::int64_t>();
  auto* pointed = batch.pointed.mutable_data<std::int64_t>();
  auto* expected = batch.expected.mutable_data<std::int64_t>();
  for (const std::int32_t i : sets) {
    std::ranges::copy(corpus.numbers_of(i), numbers);
    std::ranges::copy(corpus.pointed[i], pointed);
    *std::ranges::copy(corpus.pointed[i], expected).out = 0;
    *length++ = corpus.elements(i);
    batch.element_count += corpus.elements(i);
    batch.position_count += corpus.pointed.length(i) + 1;
    numbers += T * F;
    pointed += P;
    expected += P;
  }
  return batch;
}

std::vector<PairLength> lengths_of(const ElementCorpus& corpus) {
  std::vector<PairLength> all;
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    all.push_back({static_cast<std::int32_t>(corpus.elements(i)),
                   static_cast<std::int32_t>(corpus.pointed.length(i) + 1)});
  }
  return all;
}

ElementStream::ElementStream(std::shared_ptr<const ElementCorpus> corpus,
                             const BatchingOptions& options, std::size_t ahead)
    : EpochStream({.plan = [lengths = lengths_of(*corpus), options](
                               std::int64_t epoch) { return plan_epoch(lengths, options, epoch); },
                   .make = [corpus](std::span<const std::int32_t> rows,
                                    std::int64_t) { return make_batch(*corpus, rows); }},
                  ahead) {}

}  // namespace heed

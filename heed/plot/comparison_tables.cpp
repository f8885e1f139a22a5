// The tables of a comparison.
#include <fmt/format.h>

#include "heed/base/isa.h"
#include "heed/plot/chart.h"
#include "heed/plot/comparison.h"

namespace heed::plot {
namespace {

std::string seconds_text(double seconds) { return with_prefix(seconds, "s"); }

Table formulas(const Comparison& c) {
  Table table{.title = "One layer, n positions of d features (Vaswani et al. 2017, table 1)",
              .header = {"layer", "complexity", "sequential", "longest path"},
              .words = 4};
  for (const ComparedLayer* const layer : c.layers()) {
    const Formulas& f = layer->formulas;
    table.rows.push_back({layer->title, f.complexity, f.sequential, f.path});
  }
  return table;
}

Table path_table(const Comparison& c) {
  const std::int64_t most = c.config.path_lengths.back();
  Table table{.title =
                  "Counted on the tape: ops that combine positions, from the last output back to "
                  "the first input",
              .header = {"layer", fmt::format("sequential, n = {}", most)}};
  for (const std::int64_t n : c.config.path_lengths) {
    table.header.push_back(fmt::format("{}{}", table.header.size() == 2 ? "path, n = " : "", n));
  }
  for (const ComparedLayer* const layer : c.layers()) {
    auto& row = table.rows.emplace_back();
    row = {layer->title, fmt::to_string(layer->paths.back().counted.sequential)};
    for (const CountedPath& path : layer->paths) row.push_back(fmt::to_string(path.counted.path));
  }
  return table;
}

Table growth(const Comparison& c) {
  Table table{.title = fmt::format("Fitted to what was measured: n at d = {}, d at n = {}",
                                   c.config.sizes.front(), c.config.lengths.back()),
              .header = {"layer", "time", "memory", "operations"}};
  const auto text = [](const Growth& g) {
    return fmt::format("n^{:.2f} d^{:.2f}", g.in_length, g.in_size);
  };
  for (const ComparedLayer* const layer : c.layers()) {
    if (layer->points.empty()) continue;
    table.rows.push_back(
        {layer->title, text(layer->time), text(layer->memory), text(layer->flops)});
  }
  return table;
}

Table times(const Comparison& c) {
  const std::int64_t size = c.config.sizes.back();
  Table table{.title = fmt::format("Time of a call at d = {}", size), .header = {"layer"}};
  for (const std::int64_t n : c.config.lengths) {
    table.header.push_back(fmt::format("{}{}", table.header.size() == 1 ? "n = " : "", n));
  }
  for (const ComparedLayer* const layer : c.layers()) {
    if (layer->points.empty()) continue;
    auto& row = table.rows.emplace_back();
    row.push_back(layer->title);
    for (const Measurement& m : layer->points) {
      if (m.size == size) row.push_back(seconds_text(m.seconds));
    }
  }
  return table;
}

std::string crossover_text(const Comparison& c, const Crossover& crossover) {
  const std::string fit = crossover.at ? fmt::format(" (fit: {:.0f})", *crossover.at) : "";
  switch (crossover.place) {
    case Crossover::Place::within:
      return fmt::format("{:.0f}", *crossover.at);
    case Crossover::Place::before:
      return fmt::format("< {}{}", c.config.lengths.front(), fit);
    case Crossover::Place::after:
      break;
  }
  return fmt::format("> {}{}", c.config.lengths.back(), fit);
}

Table crossover_table(const Comparison& c) {
  Table table{.title = fmt::format("The n from which self-attention is dearer than the {}",
                                   c.recurrence.title),
              .header = {"d", "formula, n = d", "by operations", "by time"},
              .words = 0};
  for (const CrossoverAtSize& at : c.crossovers) {
    table.rows.push_back({fmt::to_string(at.size), fmt::to_string(at.size),
                          crossover_text(c, at.by_flops), crossover_text(c, at.by_time)});
  }
  return table;
}

}  // namespace

std::vector<Table> comparison_tables(const Comparison& c) {
  return {formulas(c), path_table(c), growth(c), times(c), crossover_table(c)};
}

std::string comparison_conditions(const Comparison& c) {
  return fmt::format("batch {}, f32, {}, {} threads, {}", c.config.batch,
                     c.config.backward ? "forward and backward" : "forward", num_threads(),
                     name_of(current_isa()));
}

}  // namespace heed::plot

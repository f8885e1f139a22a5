// The numbers of a comparison as JSON.
#include "heed/io/json.h"
#include "heed/plot/comparison.h"

namespace heed::plot {
namespace {

using io::Value;

template <typename T>
Value value(T x) {
  return {.data = std::move(x)};
}

template <typename Items, typename F>
Value list_of(const Items& items, const F& f) {
  Value::List list;
  for (const auto& item : items) list.push_back(f(item));
  return value(std::move(list));
}

Value integers(const std::vector<std::int64_t>& items) {
  return list_of(items, [](std::int64_t n) { return value(n); });
}

Value growth(const Growth& g) {
  return value(Value::Table{{"n", value(g.in_length)}, {"d", value(g.in_size)}});
}

Value point(const Measurement& m) {
  return value(Value::Table{{"n", value(m.length)},
                            {"d", value(m.size)},
                            {"seconds", value(m.seconds)},
                            {"bytes", value(m.bytes)},
                            {"flops", value(m.flops)}});
}

Value path(const CountedPath& p) {
  return value(Value::Table{{"n", value(p.length)},
                            {"path", value(p.counted.path)},
                            {"layers", value(p.counted.layers)},
                            {"sequential", value(p.counted.sequential)}});
}

Value layer(const ComparedLayer* l) {
  Value::Table table{{"name", value(l->name)},
                     {"title", value(l->title)},
                     {"formulas", value(Value::Table{{"complexity", value(l->formulas.complexity)},
                                                     {"sequential", value(l->formulas.sequential)},
                                                     {"path", value(l->formulas.path)}})},
                     {"paths", list_of(l->paths, path)}};
  if (!l->points.empty()) {
    table.push_back({"points", list_of(l->points, point)});
    table.push_back({"exponents", value(Value::Table{{"time", growth(l->time)},
                                                     {"memory", growth(l->memory)},
                                                     {"flops", growth(l->flops)}})});
  }
  return value(std::move(table));
}

Value crossover(const Crossover& c) {
  constexpr const char* kPlaces[] = {"within", "before", "after"};
  return value(
      Value::Table{{"place", value(std::string(kPlaces[static_cast<std::size_t>(c.place)]))},
                   {"n", c.at ? value(*c.at) : Value{}}});
}

}  // namespace

std::string comparison_json(const Comparison& c) {
  const ComparisonConfig& config = c.config;
  const Value all =
      value(Value::Table{{"conditions", value(comparison_conditions(c))},
                         {"lengths", integers(config.lengths)},
                         {"sizes", integers(config.sizes)},
                         {"batch", value(config.batch)},
                         {"kernel", value(config.kernel)},
                         {"neighbours", value(config.neighbours)},
                         {"backward", value(config.backward)},
                         {"layers", list_of(c.layers(), layer)},
                         {"crossovers", list_of(c.crossovers, [](const CrossoverAtSize& at) {
                            return value(Value::Table{{"d", value(at.size)},
                                                      {"by_time", crossover(at.by_time)},
                                                      {"by_flops", crossover(at.by_flops)}});
                          })}});
  return io::write_json(all, true);
}

}  // namespace heed::plot

// heed.list, heed.positions and heed.compare: the mechanisms and position codes, and their costs.
#include <string>

#include "heed/attention/describe.h"
#include "heed/io/json.h"
#include "heed/plot/comparison.h"
#include "python/bindings/array.h"
#include "python/bindings/bind.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/pictures.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

nb::object described(std::string_view what) {
  const io::Value all = describe_mechanisms();
  return object_of(*io::find(*all.table(), what));
}

std::string text_of_comparison(const Comparison& comparison) {
  std::string text = plot::comparison_conditions(comparison) + "\n";
  for (const plot::Table& table : plot::comparison_tables(comparison)) {
    text += "\n" + plot::table_text(table);
  }
  return text;
}

Comparison compare(const ComparisonConfig& config) {
  config.validate();
  const Unlocked released;
  InterruptCheck check;
  return compare_layers(config, [&](std::int64_t, std::int64_t, const std::string&) { check(); });
}

template <typename T>
void set(T& member, const std::optional<T>& given) {
  if (given) member = *given;
}

constexpr const char* kCompareDoc =
    "Compares sequence layers of equal width: convolution, recurrence, self-attention and "
    "restricted self-attention, by formula and as measured.\n\n"
    "It takes about a minute, with quick=True a few seconds.\n\n"
    "lengths: positions n, ascending\n"
    "sizes: features d, ascending\n"
    "path_lengths: positions n for counting paths\n"
    "batch: sequences in a call\n"
    "kernel: kernel size k of the convolution\n"
    "neighbours: r, positions on each side in restricted self-attention\n"
    "recurrence: 'gru' or 'lstm'\n"
    "backward: measure the backward pass too\n"
    "runs: number of runs of each call; the best counts\n"
    "quick: small sizes, unless others are given";

}  // namespace

void bind_registry(nb::module_& m) {
  m.def(
      "mechanisms", [] { return described("mechanisms"); },
      nb::sig("def mechanisms() -> list[dict[str, typing.Any]]"),
      "All attention mechanisms: name, title, formula, paper, cost, traits and options of each.");
  m.def(
      "positions", [] { return described("positions"); },
      nb::sig("def positions() -> list[dict[str, typing.Any]]"),
      "All position codes: name and formula of each.");

  nb::class_<Comparison>(m, "Comparison", "The result of heed.compare; str() formats it as tables.")
      .def_prop_ro(
          "numbers",
          [](const Comparison& self) {
            return object_of(io::parse_json(plot::comparison_json(self), "comparison"));
          },
          nb::for_getter(nb::sig("def numbers(self, /) -> dict[str, typing.Any]")), "Every number.")
      .def_prop_ro(
          "svg", [](const Comparison& self) { return Picture{plot::comparison_svg(self)}; },
          "Time, memory, operations and paths as a picture.")
      .def("_repr_svg_", &plot::comparison_svg)
      .def("__str__", &text_of_comparison)
      .def("__repr__", [](const Comparison& self) {
        return "<heed.Comparison: " + plot::comparison_conditions(self) + ">";
      });
  using Sizes = std::optional<std::vector<std::int64_t>>;
  m.def(
      "compare",
      [](const Sizes& lengths, const Sizes& sizes, const Sizes& path_lengths, std::int64_t batch,
         std::int64_t kernel, std::int64_t neighbours, const std::string& recurrence, bool backward,
         std::optional<std::int64_t> runs, bool quick) {
        ComparisonConfig config = quick ? ComparisonConfig::quick() : ComparisonConfig{};
        set(config.lengths, lengths);
        set(config.sizes, sizes);
        set(config.path_lengths, path_lengths);
        set(config.runs, runs);
        config.batch = batch;
        config.kernel = kernel;
        config.neighbours = neighbours;
        config.recurrence = recurrence;
        config.backward = backward;
        return compare(config);
      },
      nb::kw_only(), nb::arg("lengths") = nb::none(), nb::arg("sizes") = nb::none(),
      nb::arg("path_lengths") = nb::none(), nb::arg("batch") = ComparisonConfig{}.batch,
      nb::arg("kernel") = ComparisonConfig{}.kernel,
      nb::arg("neighbours") = ComparisonConfig{}.neighbours,
      nb::arg("recurrence") = ComparisonConfig{}.recurrence, nb::arg("backward") = false,
      nb::arg("runs") = nb::none(), nb::arg("quick") = false, kCompareDoc);
}

}  // namespace heed::python

// The drawing functions of heed.plot; the functions that users call, with their defaults, are in
// python/heed/plot.py.
#include "python/bindings/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/attention/registry.h"
#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/plot/attention_page.h"
#include "heed/plot/attention_sheet.h"
#include "heed/plot/curves.h"
#include "heed/plot/heatmap.h"
#include "heed/plot/pattern.h"
#include "heed/tensor/copy.h"
#include "python/bindings/bind.h"
#include "python/bindings/python_error.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

// Numbers of any type, converted for pictures.
Tensor weights_of(const std::string& name, nb::handle array) {
  const Tensor given = array_of(name.c_str(), array).tensor;
  return contiguous_copy(cast_data(given.detach(), DType::f32));
}

Picture draw_heatmap(const plot::Heatmap& map, const plot::HeatmapStyle& style) {
  HEED_CHECK(map.weights.rank() == 2 && map.weights.numel() > 0,
             "[plot] weights of shape {}: a picture is of a matrix [rows, columns]",
             to_string(map.weights.shape()));
  const Unlocked released;
  return Picture{plot::heatmap_svg({map}, style)};
}

// A view of one kind of attention, made of arrays [H, T, Tk].
plot::AttentionView view_of(nb::handle layers, nb::handle rows, nb::handle columns,
                            const std::string& kind) {
  plot::AttentionView view{.text = "", .parts = {}};
  plot::AttentionPart& part = view.parts.emplace_back();
  part.kind = kind_of(kind);
  part.rows = texts_of("rows", rows);
  part.columns = texts_of("columns", columns);
  for (const nb::handle layer : layers) {
    part.layers.push_back(weights_of(fmt::format("layer {}", part.layers.size() + 1), layer));
  }
  return view;
}

// ---- mechanisms ----

std::vector<plot::Heatmap> patterns(const std::vector<std::string>& names,
                                    const plot::PatternOptions& options) {
  std::vector<plot::Heatmap> maps;
  for (const std::string& name : names) {
    const Mechanism& mechanism = find_mechanism(name);
    std::vector<plot::Heatmap> heads = plot::pattern_of(mechanism, options);
    if (names.size() > 1) {
      heads.resize(1);
      heads[0].title = mechanism.name;
    }
    maps.insert(maps.end(), heads.begin(), heads.end());
  }
  return maps;
}

// ---- objects that notebooks show ----

void save(const std::string& text, nb::handle file, std::string_view ending) {
  const std::filesystem::path path = path_of("path", file);
  HEED_CHECK(path.extension() == ending, "[save] {}: the file's name must end in {}", path.string(),
             ending);
  io::write_file(path, text);
}

// A separate frame keeps the page's styles and scripts out of the notebook.
std::string framed(const Page& page) {
  std::string quoted;  // escape_xml() would remove the line ends, which scripts need
  for (const char c : page.text) {
    c == '&' ? quoted += "&amp;" : c == '"' ? quoted += "&quot;" : quoted += c;
  }
  return fmt::format(R"(<iframe srcdoc="{}" sandbox="allow-scripts" )"
                     R"(style="width: 100%; height: 720px; border: 0"></iframe>)",
                     quoted);
}

template <typename T>
nb::class_<T> bind_shown(nb::module_& m, const char* name, const char* ending, const char* doc) {
  return nb::class_<T>(m, name, doc)
      .def(
          "__init__", [](T* self, nb::handle text) { new (self) T{text_of("text", text)}; },
          nb::arg("text"), nb::sig("def __init__(self, text: str) -> None"))
      .def(
          "save", [ending](const T& self, nb::handle path) { save(self.text, path, ending); },
          nb::arg("path"), nb::sig("def save(self, path: str | os.PathLike[str]) -> None"),
          "Writes it to a file, which appears when it is complete.")
      .def_ro("text", &T::text)
      .def("__str__", [](const T& self) { return self.text; })
      .def("__repr__", [name](const T& self) {
        return fmt::format("<heed.{} of {} bytes>", name, self.text.size());
      });
}

}  // namespace

plot::AttentionKind kind_of(const std::string& name) {
  for (const auto& [kind, known] : enum_names(plot::AttentionKind{})) {
    if (known == name) return kind;
  }
  fail("[plot] kind = {}: there are encoder, decoder and cross", io::in_quotes(name));
}

plot::AttentionSelection selection_of(const std::optional<std::string>& kind,
                                      std::optional<std::int64_t> layer,
                                      std::optional<std::int64_t> head) {
  plot::AttentionSelection selection{.layer = layer, .head = head};
  if (kind) selection.kind = kind_of(*kind);
  return selection;
}

void bind_pictures(nb::module_& m) {
  bind_shown<Picture>(m, "SVG", ".svg", "A picture; str() is its SVG, and a notebook shows it.")
      .def("_repr_svg_", [](const Picture& self) { return self.text; });
  bind_shown<Page>(m, "HTML", ".html",
                   "A page to explore in a browser or a notebook: one file that needs no network.")
      .def("_repr_html_", &framed);
  m.def(
      "draw_heatmap",
      [](nb::handle weights, nb::handle rows, nb::handle columns, const std::string& title,
         double cell, bool relative, double power) {
        return draw_heatmap({.title = title,
                             .weights = weights_of("weights", weights),
                             .rows = texts_of("rows", rows),
                             .columns = texts_of("columns", columns)},
                            {.cell = cell, .relative = relative, .power = power});
      },
      nb::arg("weights"), nb::arg("rows"), nb::arg("columns"), nb::kw_only(), nb::arg("title"),
      nb::arg("cell"), nb::arg("relative"), nb::arg("power"));
  m.def(
      "draw_sheet",
      [](nb::handle layers, nb::handle rows, nb::handle columns, const std::string& kind,
         std::optional<std::int64_t> layer, std::optional<std::int64_t> head) {
        const plot::AttentionView view = view_of(layers, rows, columns, kind);
        const Unlocked released;
        return Picture{plot::attention_svg(view, selection_of({}, layer, head))};
      },
      nb::arg("layers"), nb::arg("rows"), nb::arg("columns"), nb::arg("kind"),
      nb::arg("layer").none(), nb::arg("head").none());
  m.def(
      "draw_page",
      [](nb::handle layers, nb::handle rows, nb::handle columns, const std::string& kind,
         const std::string& text, const std::string& result) {
        plot::AttentionView view = view_of(layers, rows, columns, kind);
        view.text = text;
        view.result = result;
        const Unlocked released;
        return Page{plot::attention_html(view)};
      },
      nb::arg("layers"), nb::arg("rows"), nb::arg("columns"), nb::arg("kind"), nb::arg("text"),
      nb::arg("result"));
  m.def(
      "draw_pattern",
      [](nb::handle names, std::int64_t positions, bool causal, nb::handle options, double cell) {
        const std::vector<std::string> all = texts_of("names", names);
        const plot::PatternOptions pattern{
            .positions = positions, .causal = causal, .options = texts_of("options", options)};
        const Unlocked released;
        return Picture{plot::heatmap_svg(patterns(all, pattern), {.cell = cell})};
      },
      nb::arg("names"), nb::arg("positions"), nb::arg("causal"), nb::arg("options"),
      nb::arg("cell"));
  m.def(
      "draw_curves",
      [](nb::handle folders, bool log_updates) {
        std::vector<std::filesystem::path> paths;
        for (const nb::handle folder : folders) paths.push_back(path_of("folder", folder));
        const Unlocked released;
        std::vector<plot::TrainingRun> runs;
        runs.reserve(paths.size());
        for (const std::filesystem::path& path : paths) runs.push_back(plot::read_run(path));
        return Picture{plot::curves_svg(runs, log_updates)};
      },
      nb::arg("folders"), nb::arg("log_updates"));
}

}  // namespace heed::python

#include "python/bindings/model_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/generation/alignment.h"
#include "heed/generation/examine.h"
#include "heed/models/model_kind.h"
#include "heed/plot/attention_page.h"
#include "heed/plot/attention_sheet.h"
#include "heed/plot/model_attention.h"
#include "python/bindings/pictures.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

nb::list strings(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(to_str(text));
  return list;
}

// ---- texts --------------------------------------------------------------------------------------

template <typename T>
nb::class_<T> bind_written(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<T>(m, name, doc)
      .def_prop_ro("text", [](const T& self) { return to_str(self.text); })
      .def_prop_ro(
          "tokens", [](const T& self) { return strings(self.pieces); },
          nb::for_getter(nb::sig("def tokens(self, /) -> list[str]")),
          "Its tokens as they are shown: '▁dog'.")
      .def_prop_ro(
          "ids", [](const T& self) { return self.hypothesis.tokens; }, "Its tokens as numbers.")
      .def_prop_ro(
          "score", [](const T& self) { return self.hypothesis.score; },
          "The log-probability divided by the length penalty; results are sorted by it.")
      .def_prop_ro(
          "log_probability", [](const T& self) { return self.hypothesis.log_probability; },
          "The log-probability of all tokens, including the end token.")
      .def_prop_ro(
          "token_log_probabilities",
          [](const T& self) { return self.hypothesis.token_log_probabilities; },
          "One for each token, then, if the text has ended, that of the end token.")
      .def("__str__", [](const T& self) { return to_str(self.text); })
      .def("__repr__", [name](const T& self) {
        return to_str(fmt::format("<heed.{} {}, score {:.4f}>", name,
                                  nb::repr(to_str(self.text)).c_str(), self.hypothesis.score));
      });
}

// ---- attention ----------------------------------------------------------------------------------

const plot::AttentionPart* part_of(const ModelAttention& self, plot::AttentionKind kind) {
  const auto part = std::ranges::find(self.view.parts, kind, &plot::AttentionPart::kind);
  return part == self.view.parts.end() ? nullptr : &*part;
}

template <plot::AttentionKind kind>
nb::list layers(const ModelAttention& self) {
  nb::list arrays;
  const plot::AttentionPart* const part = part_of(self, kind);
  if (part == nullptr) return arrays;
  for (const Tensor& layer : part->layers) {
    arrays.append(layer.defined() ? to_numpy(layer) : nb::none());
  }
  return arrays;
}

template <plot::AttentionKind kind, std::vector<std::string> plot::AttentionPart::*labels>
nb::list tokens(const ModelAttention& self) {
  const plot::AttentionPart* const part = part_of(self, kind);
  return part == nullptr ? nb::list() : strings(part->*labels);
}

nb::list links(const ModelAttention& self, const std::string& unit,
               std::optional<double> threshold) {
  HEED_CHECK(self.view.alignment.defined(),
             "[alignment] there is none: only a translator writes one text for another");
  HEED_CHECK(unit == "words" || unit == "tokens", "[alignment] unit = {}: it is words or tokens",
             io::in_quotes(unit));
  Alignment found = hard_alignment(without_ends(self.view.alignment, self.view.edges),
                                   {.threshold = threshold, .mutual = false});
  if (unit == "words") found = merge_words(found, {self.source_words, self.target_words});
  nb::list pairs;
  for (const AlignmentLink& link : found) pairs.append(nb::make_tuple(link.source, link.target));
  return pairs;
}

std::string sheet(const ModelAttention& self, const plot::AttentionSelection& selection) {
  const Unlocked released;
  return plot::attention_svg(self.view, selection);
}

void bind_attention_of_models(nb::module_& m) {
  using Kind = plot::AttentionKind;
  using Part = plot::AttentionPart;
  constexpr const char* kLayersDoc = "An array [heads, rows, columns] for each layer.";
  nb::class_<ModelAttention>(m, "Attention",
                             "The attention weights of a model for one text, as arrays and as "
                             "pictures; a notebook shows it.\n\n"
                             "Rows of decoder and cross are the steps that wrote the tokens of "
                             "target, the end token last; "
                             "columns of decoder are the tokens of target_read, the begin token "
                             "first; all others are those of "
                             "source, the end token last.")
      .def_prop_ro(
          "text", [](const ModelAttention& self) { return to_str(self.view.text); },
          "The text that the model read.")
      .def_prop_ro(
          "result", [](const ModelAttention& self) { return to_str(self.view.result); },
          "The result of the model: a translation, a label or nothing.")
      .def_prop_ro("source", &tokens<Kind::encoder, &Part::rows>,
                   nb::for_getter(nb::sig("def source(self, /) -> list[str]")),
                   "The tokens that the model read, including the end token.")
      .def_prop_ro("target", &tokens<Kind::decoder, &Part::rows>,
                   nb::for_getter(nb::sig("def target(self, /) -> list[str]")),
                   "The tokens that the model wrote, including the end token.")
      .def_prop_ro("target_read", &tokens<Kind::decoder, &Part::columns>,
                   nb::for_getter(nb::sig("def target_read(self, /) -> list[str]")),
                   "The tokens that the decoder read while it wrote, the begin token first.")
      .def_prop_ro("encoder", &layers<Kind::encoder>,
                   nb::for_getter(nb::sig("def encoder(self, /) -> list[numpy.ndarray]")),
                   kLayersDoc)
      .def_prop_ro("decoder", &layers<Kind::decoder>,
                   nb::for_getter(nb::sig("def decoder(self, /) -> list[numpy.ndarray]")),
                   kLayersDoc)
      .def_prop_ro("cross", &layers<Kind::cross>,
                   nb::for_getter(nb::sig("def cross(self, /) -> list[numpy.ndarray]")), kLayersDoc)
      .def_prop_ro(
          "alignment",
          [](const ModelAttention& self) -> nb::object {
            if (!self.view.alignment.defined()) return nb::none();
            return to_numpy(self.view.alignment);
          },
          nb::for_getter(nb::sig("def alignment(self, /) -> numpy.ndarray | None")),
          "How much each token of target has of each token of source, from the cross-attention of "
          "all layers "
          "and heads: [target, source], rows sum to 1.")
      .def("links", &links, nb::arg("unit") = "words", nb::kw_only(),
           nb::arg("threshold") = nb::none(),
           nb::sig("def links(self, unit: str = 'words', *, threshold: float | None = None) -> "
                   "list[tuple[int, int]]"),
           "The alignment as pairs (source, target) of 'words' or 'tokens', from 0: each target's "
           "source with the largest weight, or, with a threshold, all sources with at least that "
           "weight.")
      .def(
          "picture",
          [](const ModelAttention& self, const std::optional<std::string>& kind,
             std::optional<std::int64_t> layer, std::optional<std::int64_t> head) {
            return Picture{sheet(self, selection_of(kind, layer, head))};
          },
          nb::arg("kind") = nb::none(), nb::arg("layer") = nb::none(), nb::arg("head") = nb::none(),
          "All heads on a sheet, or those of a kind ('encoder', 'decoder', 'cross'), layer and "
          "head, which count from 1.")
      .def(
          "page",
          [](const ModelAttention& self, const std::optional<std::string>& kind,
             std::optional<std::int64_t> layer, std::optional<std::int64_t> head) {
            const plot::AttentionSelection selection = selection_of(kind, layer, head);
            const Unlocked released;
            return Page{plot::attention_html(self.view, selection)};
          },
          nb::arg("kind") = nb::none(), nb::arg("layer") = nb::none(), nb::arg("head") = nb::none(),
          "A page to explore in a browser, which opens with the selected part.")
      .def("_repr_svg_", [](const ModelAttention& self) { return sheet(self, {}); })
      .def("__repr__", [](const ModelAttention& self) {
        const std::string arrow = self.view.result.empty() ? "" : " -> " + self.view.result;
        return to_str(fmt::format("<heed.Attention: {}{}>", self.view.text, arrow));
      });
}

}  // namespace

Written written(const Tokenizer& tokenizer, std::string text, Hypothesis hypothesis) {
  Written result{.text = std::move(text), .pieces = {}, .hypothesis = std::move(hypothesis)};
  for (const std::int32_t id : result.hypothesis.tokens) {
    result.pieces.push_back(tokenizer.piece(id));
  }
  for (const CopiedToken& one : result.hypothesis.copied) {
    result.pieces[static_cast<std::size_t>(one.at)] = one.word;
  }
  return result;
}

nb::object model_config(const Model& model) {
  ModelChoice config = model.choice();
  return object_of(io::Fields(config).write());
}

ModelAttention attention_for(const Translator& translator, const std::string& source,
                             const Hypothesis& translation) {
  plot::AttentionView view = plot::attention_of(translator, source, translation);
  const auto target =
      std::span(translation.tokens).subspan(static_cast<std::size_t>(view.edges.target_before));
  const std::vector<std::int32_t> read = translator.source()->encode(source);
  return {.view = std::move(view),
          .source_words = word_numbers(word_spans(*translator.source(), read), read.size()),
          .target_words = word_numbers(word_spans(*translator.target(), target), target.size())};
}

void bind_model_results(nb::module_& m) {
  bind_written<PyTranslation>(m, "Translation", "One translation of a sentence.");
  bind_written<Continuation>(m, "Continuation", "One continuation of a text.")
      .def_prop_ro(
          "finish",
          [](const Continuation& self) { return to_str(io::enum_name(self.hypothesis.finish)); },
          "Why the text is complete: 'end' (the model ended it), 'stop' (a stop string) or "
          "'length'.");
  bind_attention_of_models(m);
}

}  // namespace heed::python

// heed.LanguageModel and heed.Classifier.
#include "heed/generation/text_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/generation/classify.h"
#include "heed/generation/generate.h"
#include "heed/generation/ordering.h"
#include "heed/plot/model_attention.h"
#include "heed/text/decode_stream.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/model_results.h"
#include "python/bindings/options.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

// ---- language models ----------------------------------------------------------------------------

// What a text may be told; texts are read without an end, so they have none. A draw from the model
// as it is would ramble: these are the usual bounds.
struct GenerateOptions {
  SearchOptions search = {.method = SearchMethod::sample,
                          .beam_size = 1,
                          .max_length = 500,
                          .temperature = 0.8,
                          .top_k = 200};

  void fields(io::Fields& field) {
    SearchOptions& s = search;
    field("method", s.method, "take the likeliest tokens, or draw them at random");
    field("beam_size", s.beam_size, "hypotheses followed at once; 1 is greedy", {.min = 1});
    field("n_best", s.n_best, "texts for each prompt", {.min = 1});
    field("max_length", s.max_length, "tokens of a text", {.min = 0});
    field("no_repeat_ngram", s.no_repeat_ngram, "no sequence of that many tokens twice; 0: any",
          {.min = 0});
    field("allow_unknown", s.allow_unknown, "whether the unknown token may be chosen");
    field("temperature", s.temperature, "sample: softmax(scores / temperature)", {.min = 0});
    field("top_k", s.top_k, "sample: only among the likeliest that many; 0: all", {.min = 0});
    field("top_p", s.top_p, "sample: only among the likeliest that together reach that probability",
          {.min = 0, .max = 1});
    field("seed", s.seed, "sample: the seed of the random numbers");
  }
  void validate() const { search.validate(); }
};

// Told of text as it is certain; called without the interpreter's lock.
using OnText = std::function<void(const std::string& text)>;

std::vector<Continuation> continue_text(const TextGenerator& generator, const std::string& prompt,
                                        std::uint64_t stream, const SearchOptions& options,
                                        const OnText& on_text) {
  const Tokenizer& tokenizer = *generator.tokenizer;
  std::vector<std::int32_t> tokens = tokenizer.encode(prompt);
  if (tokens.empty()) tokens = empty_prompt(tokenizer);
  // The text of a token may depend on those before it, the prompt's too.
  DecodeStream begun(tokenizer);
  for (const std::int32_t token : tokens) begun.add(token);
  DecodeStream told = begun;
  GenerateRequest request{.prompt = tokens,
                          .stream = stream,
                          .on_step = [check = InterruptCheck()]() mutable { check(); }};
  if (on_text) request.on_token = [&](std::int32_t token) { on_text(told.add(token)); };
  std::vector<Continuation> results;
  for (Hypothesis& found : generate(generator, request, options)) {
    DecodeStream copy = begun;
    std::string text;
    for (const std::int32_t token : found.tokens) text += copy.add(token);
    results.push_back({written(tokenizer, text + copy.finish(), std::move(found))});
  }
  if (on_text) on_text(told.finish());
  return results;
}

SearchOptions endless(const GenerateOptions& options) {
  SearchOptions search = options.search;
  search.min_length = search.max_length;
  return search;
}

// Python's function, called with its lock, and with nothing where there is nothing to tell.
OnText in_python(nb::handle function) {
  if (function.is_none()) return {};
  return [function](const std::string& text) {
    if (text.empty()) return;
    const nb::gil_scoped_acquire gil;
    function(to_str(text));
  };
}

void bind_language_model(nb::module_& m) {
  GenerateOptions usual;
  const io::Fields fields(usual);
  const std::string one = signature(
      "def generate(self, prompt: str = '', *, on_text: collections.abc.Callable[[str], object] | "
      "None = None",
      fields, ") -> str");
  const std::string batch =
      signature("def generate_batch(self, prompts: collections.abc.Iterable[str], *", fields,
                ") -> list[list[Continuation]]");
  const std::string one_help = help(
      "What the model goes on with behind a prompt; without one, a text of its own.\n\n"
      "on_text is called with each piece of text as it is made, where one sequence is followed.",
      fields);

  nb::class_<TextGenerator>(m, "LanguageModel",
                            "A trained language model, from its folder or that of its training "
                            "run.\n\nSeveral threads may use one at once.")
      .def(
          "__init__",
          [](TextGenerator* self, nb::handle path) {
            const std::filesystem::path folder = path_of("path", path);
            const Unlocked released;
            new (self) TextGenerator(load_text_generator(folder));
          },
          nb::arg("path"), nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"))
      .def(
          "generate",
          [](const TextGenerator& self, nb::handle prompt, nb::handle on_text,
             const nb::kwargs& options) {
            const SearchOptions search =
                endless(options_of(GenerateOptions{}, "generate", options));
            const std::string text = text_of("prompt", prompt);
            const OnText tell = in_python(on_text);
            const auto found = [&] {
              const Unlocked released;
              return continue_text(self, text, 0, search, tell);
            }();
            return to_str(found.empty() ? "" : found[0].text);
          },
          nb::arg("prompt") = "", nb::kw_only(), nb::arg("on_text") = nb::none(),
          nb::arg("options"), nb::sig(one.c_str()), one_help.c_str())
      .def(
          "generate_batch",
          [](const TextGenerator& self, nb::handle prompts, const nb::kwargs& options) {
            const SearchOptions search =
                endless(options_of(GenerateOptions{}, "generate_batch", options));
            const std::vector<std::string> texts = texts_of("prompts", prompts);
            const Unlocked released;
            std::vector<std::vector<Continuation>> results;
            results.reserve(texts.size());
            for (const std::string& text : texts) {
              results.push_back(continue_text(self, text, results.size(), search, {}));
            }
            return results;
          },
          nb::arg("prompts"), nb::arg("options"), nb::sig(batch.c_str()),
          "The n best ways to go on behind each prompt; options as in generate.")
      .def(
          "attention",
          [](const TextGenerator& self, nb::handle text) {
            const std::string read = text_of("text", text);
            const Unlocked released;
            return ModelAttention{.view = plot::attention_of(self, read)};
          },
          nb::arg("text"), nb::sig("def attention(self, text: str) -> Attention"),
          "What every layer and head attends to over a text.")
      .def_prop_ro("tokenizer",
                   [](const TextGenerator& self) { return PyTokenizer{self.tokenizer}; })
      .def_prop_ro(
          "config",
          [](const TextGenerator& self) {
            LanguageModelConfig config = self.model.config();
            return object_of(io::Fields(config).write());
          },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "What the model is made of.")
      .def("__repr__", [](const TextGenerator& self) {
        return fmt::format("<heed.LanguageModel: {} parameters, {} tokens>",
                           self.model.parameter_count(), self.tokenizer->size());
      });
}

// ---- classifiers --------------------------------------------------------------------------------

struct ClassifyOptions {
  std::int64_t max_source = 1024;
  std::int64_t batch_tokens = OrderingOptions{}.batch_tokens;

  void fields(io::Fields& field) {
    field("max_source", max_source, "the most tokens of a text that are looked at", {.min = 1});
    field("batch_tokens", batch_tokens, "texts of a batch, padding included", {.min = 1});
  }
};

std::vector<std::vector<float>> classify_all(const TextClassifier& classifier,
                                             const std::vector<std::string>& texts,
                                             const ClassifyOptions& options) {
  const Unlocked released;
  InterruptCheck check;
  const std::int64_t longest = std::min(options.max_source, classifier.model.tokens.max_length());
  std::vector<std::vector<std::int32_t>> read;
  std::vector<std::int64_t> lengths;
  for (const std::string& text : texts) {
    read.push_back(read_text(classifier, text, longest));
    lengths.push_back(std::ssize(read.back()));
  }
  std::vector<std::vector<float>> results(texts.size());
  for (const auto& places : plan_batches(lengths, {.batch_tokens = options.batch_tokens})) {
    check();
    std::vector<std::vector<std::int32_t>> batch;
    batch.reserve(places.size());
    for (const std::int64_t place : places) batch.push_back(read[static_cast<std::size_t>(place)]);
    auto found = classify(classifier, batch);
    for (std::size_t i = 0; i < places.size(); ++i) {
      results[static_cast<std::size_t>(places[i])] = std::move(found[i]);
    }
  }
  return results;
}

void bind_classifier(nb::module_& m) {
  ClassifyOptions usual;
  const io::Fields fields(usual);
  const std::string one = signature("def classify(self, text: str, *", fields, ") -> str");
  const std::string batch =
      signature("def classify_batch(self, texts: collections.abc.Iterable[str], *", fields,
                ") -> list[dict[str, float]]");
  const std::string batch_help =
      help("The probabilities of the labels for each text, likeliest first.", fields);

  nb::class_<TextClassifier>(m, "Classifier",
                             "A trained classifier, from its folder or that of its training "
                             "run.\n\nSeveral threads may use one at once.")
      .def(
          "__init__",
          [](TextClassifier* self, nb::handle path) {
            const std::filesystem::path folder = path_of("path", path);
            const Unlocked released;
            new (self) TextClassifier(load_text_classifier(folder));
          },
          nb::arg("path"), nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"))
      .def(
          "classify",
          [](const TextClassifier& self, nb::handle text, const nb::kwargs& options) {
            const auto found = classify_all(self, {text_of("text", text)},
                                            options_of(ClassifyOptions{}, "classify", options));
            return to_str(self.labels[by_probability(found[0])[0]]);
          },
          nb::arg("text"), nb::arg("options"), nb::sig(one.c_str()),
          "The likeliest label of one text; options as in classify_batch.")
      .def(
          "classify_batch",
          [](const TextClassifier& self, nb::handle texts, const nb::kwargs& options) {
            nb::list results;
            for (const auto& p :
                 classify_all(self, texts_of("texts", texts),
                              options_of(ClassifyOptions{}, "classify_batch", options))) {
              nb::dict labelled;
              for (const std::size_t i : by_probability(p)) labelled[to_str(self.labels[i])] = p[i];
              results.append(labelled);
            }
            return results;
          },
          nb::arg("texts"), nb::arg("options"), nb::sig(batch.c_str()), batch_help.c_str())
      .def(
          "attention",
          [](const TextClassifier& self, nb::handle text) {
            const std::string read = text_of("text", text);
            const Unlocked released;
            return ModelAttention{.view = plot::attention_of(self, read)};
          },
          nb::arg("text"), nb::sig("def attention(self, text: str) -> Attention"),
          "What every layer and head attends to over a text.")
      .def_prop_ro(
          "labels",
          [](const TextClassifier& self) {
            nb::list labels;
            for (const std::string& label : self.labels) labels.append(to_str(label));
            return labels;
          },
          nb::for_getter(nb::sig("def labels(self, /) -> list[str]")),
          "In the order of the model's classes.")
      .def_prop_ro("tokenizer",
                   [](const TextClassifier& self) { return PyTokenizer{self.tokenizer}; })
      .def_prop_ro(
          "config",
          [](const TextClassifier& self) {
            ClassifierConfig config = self.model.config();
            return object_of(io::Fields(config).write());
          },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "What the model is made of.")
      .def("__repr__", [](const TextClassifier& self) {
        return fmt::format("<heed.Classifier: {} parameters, {} labels>",
                           self.model.parameter_count(), self.labels.size());
      });
}

}  // namespace

void bind_text_models(nb::module_& m) {
  bind_language_model(m);
  bind_classifier(m);
}

}  // namespace heed::python

// heed.LanguageModel and heed.Classifier.
#include "heed/generation/text_model.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/generation/chat.h"
#include "heed/generation/classify.h"
#include "heed/generation/generate.h"
#include "heed/generation/generation_filter.h"
#include "python/bindings/def_text_model.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/options.h"
#include "python/bindings/python_error.h"
#include "python/bindings/streams.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

// ---- language models ----------------------------------------------------------------------------

using OnText = std::function<void(const std::string& text)>;

std::vector<Continuation> continue_text(const TextGenerator& generator, const Prompt& prompt,
                                        std::uint64_t stream, const GenerateOptions& options,
                                        const OnText& on_text) {
  std::vector<Continuation> results;
  for (GeneratedText& found : generate_text(
           generator, prompt, options,
           {.stream = stream, .on_text = on_text, .on_step = [check = InterruptCheck()]() mutable {
              check();
            }})) {
    results.push_back(
        {written(*generator.tokenizer, std::move(found.text), std::move(found.hypothesis))});
  }
  return results;
}

// The options of several prompts at once.
struct TextBatchOptions {
  GenerateOptions generation = {};
  SchedulerOptions scheduling = {};

  void fields(io::Fields& field) {
    generation.fields(field);
    scheduling.fields(field);
  }
  void validate() const {
    generation.validate();
    scheduling.validate();
  }
};

std::vector<std::vector<Continuation>> continue_texts(const TextGenerator& generator,
                                                      const std::vector<std::string>& texts,
                                                      const TextBatchOptions& options) {
  const Unlocked released;
  std::vector<Prompt> prompts;
  for (const std::string& text : texts) prompts.push_back(read_prompt(generator, text));
  std::vector<std::vector<Continuation>> results;
  for (auto& found : generate_texts(generator, prompts, options.generation, options.scheduling,
                                    [check = InterruptCheck()]() mutable { check(); })) {
    std::vector<Continuation>& all = results.emplace_back();
    for (auto& [text, hypothesis] : found) {
      all.push_back({written(*generator.tokenizer, std::move(text), std::move(hypothesis))});
    }
  }
  return results;
}

// Python's function, called with the interpreter's lock; none if there is no function.
OnText in_python(nb::handle function) {
  if (function.is_none()) return {};
  return [function](const std::string& text) {
    if (text.empty()) return;
    const nb::gil_scoped_acquire gil;
    function(to_str(text));
  };
}

// Messages from a list of dicts.
std::vector<ChatMessage> messages_of(nb::handle messages) {
  std::vector<ChatMessage> all;
  const auto member = [&](nb::handle message, const char* key) {
    const std::string name = fmt::format("messages[{}]", all.size());
    if (PyMapping_Check(message.ptr()) == 0 || !nb::cast<bool>(message.attr("__contains__")(key))) {
      throw_type_error(
          "{}: it must be a dict with 'role' and 'content', for example "
          "{{'role': 'user', 'content': 'Hello'}}",
          name);
    }
    return text_of(fmt::format("{}['{}']", name, key), message[key]);
  };
  for (const nb::handle message : nb::iter(messages)) {
    all.push_back({member(message, "role"), member(message, "content")});
  }
  return all;
}

// The text of the best result; `read` makes the prompt.
template <typename Read>
nb::str generate_one(const TextGenerator& self, const Read& read, nb::handle on_text,
                     const GenerateOptions& options) {
  const OnText tell = in_python(on_text);
  const auto found = [&] {
    const Unlocked released;
    return continue_text(self, read(), 0, options, tell);
  }();
  return to_str(found.empty() ? "" : found[0].text);
}

void bind_language_model(nb::module_& m) {
  GenerateOptions usual;
  const io::Fields fields(usual);
  const std::string one = signature(
      "def generate(self, prompt: str = '', *, on_text: collections.abc.Callable[[str], object] | "
      "None = None",
      fields, ") -> str");
  const std::string chat = signature(
      "def chat(self, messages: collections.abc.Iterable[collections.abc.Mapping[str, str]], *, "
      "on_text: collections.abc.Callable[[str], object] | None = None",
      fields, ") -> str");
  TextBatchOptions several;
  const io::Fields batch_fields(several);
  const std::string batch =
      signature("def generate_batch(self, prompts: collections.abc.Iterable[str], *", batch_fields,
                ") -> list[list[Continuation]]");
  const std::string iter =
      signature("def generate_iter(self, prompts: collections.abc.Iterable[str], *", batch_fields,
                ") -> ContinuationStream");
  const std::string stream =
      signature("def stream(self, prompt: str = '', *", fields, ") -> TextStream");
  const std::string one_help = help(
      "The continuation of a prompt; without one, a text of the model's own.\n\n"
      "on_text is called with each piece of text as it is generated, if only one sequence is "
      "generated.",
      fields);

  nb::class_<TextGenerator> type(
      m, "LanguageModel",
      "A trained language model, from its folder or that of its training "
      "run, from a Hugging Face folder or a GGUF file.\n\nSeveral threads "
      "may use one at once.");
  def_text_model<TextGenerator, load_text_generator>(type);
  type.def(
          "generate",
          [](const TextGenerator& self, nb::handle prompt, nb::handle on_text,
             const nb::kwargs& options) {
            const std::string text = text_of("prompt", prompt);
            return generate_one(
                self, [&] { return read_prompt(self, text); }, on_text,
                options_of(usual_options(self), "generate", options));
          },
          nb::arg("prompt") = "", nb::kw_only(), nb::arg("on_text") = nb::none(),
          nb::arg("options"), nb::sig(one.c_str()), one_help.c_str())
      .def(
          "chat",
          [](const TextGenerator& self, nb::handle messages, nb::handle on_text,
             const nb::kwargs& options) {
            const std::vector<ChatMessage> all = messages_of(messages);
            return generate_one(
                self, [&] { return read_chat(self, all); }, on_text,
                options_of(usual_options(self), "chat", options));
          },
          nb::arg("messages"), nb::kw_only(), nb::arg("on_text") = nb::none(), nb::arg("options"),
          nb::sig(chat.c_str()),
          "The answer of a model that has a chat template to messages such as "
          "{'role': 'user', 'content': 'Hello'}; on_text and options as in generate.")
      .def(
          "generate_batch",
          [](const TextGenerator& self, nb::handle prompts, const nb::kwargs& options) {
            return continue_texts(self, texts_of("prompts", prompts),
                                  options_of(TextBatchOptions{.generation = usual_options(self)},
                                             "generate_batch", options));
          },
          nb::arg("prompts"), nb::arg("options"), nb::sig(batch.c_str()),
          "The n best continuations of each prompt, computed together; options as in generate.")
      .def(
          "generate_iter",
          [](const TextGenerator& self, nb::handle prompts, const nb::kwargs& options) {
            const auto given = options_of(TextBatchOptions{.generation = usual_options(self)},
                                          "generate_iter", options);
            return std::make_unique<ContinuationStream>(self, given.generation, given.scheduling,
                                                        prompts);
          },
          nb::arg("prompts"), nb::arg("options"), nb::sig(iter.c_str()), nb::keep_alive<0, 1>(),
          "The same as generate_batch, but each prompt's continuations as soon as they and those "
          "before them are there, for `for` and `async for`. The prompts may be a generator.")
      .def(
          "stream",
          [](const TextGenerator& self, nb::handle prompt, const nb::kwargs& options) {
            return std::make_unique<TextStream>(self, read_prompt(self, text_of("prompt", prompt)),
                                                options_of(usual_options(self), "stream", options));
          },
          nb::arg("prompt") = "", nb::arg("options"), nb::sig(stream.c_str()),
          nb::keep_alive<0, 1>(),
          "The continuation of a prompt, piece by piece as it is generated, for `for` and `async "
          "for`; options as in generate.")
      .def("__repr__", [](const TextGenerator& self) {
        return fmt::format("<heed.LanguageModel: {} parameters, {} tokens>",
                           self.model->parameter_count(), self.tokenizer->size());
      });
}

// ---- classifiers --------------------------------------------------------------------------------

// A text, or a tuple of two.
struct PyText {
  std::string text;
  std::optional<std::string> pair = {};
};

PyText text_or_pair_of(const std::string& name, nb::handle object) {
  if (!nb::isinstance<nb::tuple>(object)) return {text_of(name, object)};
  const auto both = nb::borrow<nb::tuple>(object);
  HEED_CHECK(both.size() == 2, "[classify] {} is a tuple of {}: a pair has two texts", name,
             both.size());
  return {text_of(name + "[0]", both[0]), text_of(name + "[1]", both[1])};
}

std::vector<PyText> texts_or_pairs_of(nb::handle object) {
  std::vector<PyText> texts;
  if (nb::isinstance<nb::str>(object)) texts_of("texts", object);  // throws
  for (const nb::handle item : object) {
    texts.push_back(text_or_pair_of(fmt::format("texts[{}]", texts.size()), item));
  }
  return texts;
}

std::vector<std::vector<float>> classify_all(const TextClassifier& classifier,
                                             const std::vector<PyText>& texts,
                                             const ClassifyOptions& options) {
  const Unlocked released;
  std::vector<TextOrPair> all;
  for (const PyText& text : texts) {
    TextOrPair& next = all.emplace_back(TextOrPair{.text = text.text});
    if (text.pair) next.pair = *text.pair;
  }
  return classify_texts(classifier, std::span<const TextOrPair>(all), options,
                        [check = InterruptCheck()]() mutable { check(); });
}

void bind_classifier(nb::module_& m) {
  ClassifyOptions usual;
  const io::Fields fields(usual);
  const std::string one =
      signature("def classify(self, text: str | tuple[str, str], *", fields, ") -> str");
  const std::string batch = signature(
      "def classify_batch(self, texts: collections.abc.Iterable[str | tuple[str, str]], *", fields,
      ") -> list[dict[str, float]]");
  const std::string batch_help = help(
      "The probabilities of the labels for each text, most probable first.\n\nA tuple is a pair "
      "of texts, for models that were trained on pairs.",
      fields);

  nb::class_<TextClassifier> type(m, "Classifier",
                                  "A trained classifier, from its folder or that of its training "
                                  "run.\n\nSeveral threads may use one at once.");
  def_text_model<TextClassifier, load_text_classifier>(type);
  type.def(
          "classify",
          [](const TextClassifier& self, nb::handle text, const nb::kwargs& options) {
            const auto found = classify_all(self, {text_or_pair_of("text", text)},
                                            options_of(ClassifyOptions{}, "classify", options));
            return to_str(self.labels[by_probability(found[0])[0]]);
          },
          nb::arg("text"), nb::arg("options"), nb::sig(one.c_str()),
          "The most probable label of one text; options as in classify_batch.")
      .def(
          "classify_batch",
          [](const TextClassifier& self, nb::handle texts, const nb::kwargs& options) {
            nb::list results;
            for (const auto& p :
                 classify_all(self, texts_or_pairs_of(texts),
                              options_of(ClassifyOptions{}, "classify_batch", options))) {
              nb::dict labelled;
              for (const std::size_t i : by_probability(p)) labelled[to_str(self.labels[i])] = p[i];
              results.append(labelled);
            }
            return results;
          },
          nb::arg("texts"), nb::arg("options"), nb::sig(batch.c_str()), batch_help.c_str())
      .def_prop_ro(
          "labels",
          [](const TextClassifier& self) {
            nb::list labels;
            for (const std::string& label : self.labels) labels.append(to_str(label));
            return labels;
          },
          nb::for_getter(nb::sig("def labels(self, /) -> list[str]")),
          "The labels in the order of the model's classes.")
      .def("__repr__", [](const TextClassifier& self) {
        return fmt::format("<heed.Classifier: {} parameters, {} labels>",
                           self.model->parameter_count(), self.labels.size());
      });
}

}  // namespace

void bind_text_models(nb::module_& m) {
  bind_language_model(m);
  bind_classifier(m);
}

}  // namespace heed::python

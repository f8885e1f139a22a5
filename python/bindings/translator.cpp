// heed.Translator.
#include "heed/generation/translator.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/generation/examine.h"
#include "heed/generation/model_folder.h"
#include "python/bindings/bind.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/load_options.h"
#include "python/bindings/model_results.h"
#include "python/bindings/options.h"
#include "python/bindings/streams.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

using NBestTexts = std::vector<std::vector<PyTranslation>>;

// The languages to translate between; "": those of the model.
struct LanguageOptions {
  std::string source_language, target_language;

  void fields(io::Fields& field) {
    field("source_language", source_language, "for models of several languages: that of sources");
    field("target_language", target_language, "for models of several languages: that of targets");
  }
  Translator of(const Translator& translator) const {
    if (source_language.empty() && target_language.empty()) return translator;
    return translator.between(source_language, target_language);
  }
};

// The options of a translation: those of a search, and of the batches.
struct BatchOptions {
  SearchOptions search = {};
  SchedulerOptions scheduling = {};
  LanguageOptions languages = {};
  std::string prefix = {};

  /// Those of a translator, unless the caller says otherwise.
  static BatchOptions of(const Translator& translator) {
    return {.search = translator.format().search};
  }

  void fields(io::Fields& field) {
    languages.fields(field);
    field("prefix", prefix, "a text that the translations begin with");
    search.fields(field);
    field("batch_tokens", scheduling.batch_tokens,
          "tokens of a batch, including padding; does not affect the results", {.min = 1});
    scheduling.fields(field);
  }
  void validate() const {
    search.validate();
    scheduling.validate();
  }
};

// The options that affect a score.
struct ScoreOptions {
  SearchOptions search = {};
  LanguageOptions languages = {};

  void fields(io::Fields& field) {
    languages.fields(field);
    field("length_penalty", search.length_penalty, "alpha: the exponent of the length");
    field("length_penalty_form", search.length_penalty_form,
          "log p / length^alpha (power) or log p / ((5 + length) / 6)^alpha (gnmt)");
  }
  void validate() const { search.validate(); }
};

TranslateOptions translate_options(const BatchOptions& options) {
  return {.search = options.search, .scheduling = options.scheduling, .prefix = options.prefix};
}

TranslateOptions with_interrupts(const BatchOptions& options) {
  TranslateOptions checked = translate_options(options);
  checked.on_step = [check = InterruptCheck()]() mutable { check(); };
  return checked;
}

NBestTexts translate_batch(const Translator& loaded, const std::vector<std::string>& sentences,
                           const BatchOptions& options) {
  const Unlocked released;
  const Translator translator = options.languages.of(loaded);
  NBestTexts results;
  for (auto& found : translator.translate(sentences, with_interrupts(options))) {
    std::vector<PyTranslation>& all = results.emplace_back();
    for (auto& [text, hypothesis] : found) {
      all.push_back({written(*translator.target(), std::move(text), std::move(hypothesis))});
    }
  }
  return results;
}

std::vector<PyTranslation> score_batch(const Translator& loaded,
                                       const std::vector<std::string>& sources,
                                       const std::vector<std::string>& targets,
                                       const ScoreOptions& options) {
  HEED_CHECK(sources.size() == targets.size(),
             "[score_batch] {} sources and {} targets: give one target for each source",
             sources.size(), targets.size());
  const Unlocked released;
  const Translator translator = options.languages.of(loaded);
  InterruptCheck check;
  std::vector<PyTranslation> results;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    check();
    const std::vector<std::int32_t> source = translator.read(sources[i]);
    const auto copied = translator.copied(sources[i], source);
    const std::vector<std::int32_t> tokens = translator.read_result(targets[i], copied.get());
    Hypothesis scored = examine_score(translator, {source, tokens, copied.get()}, options.search);
    results.push_back({written(*translator.target(), targets[i], std::move(scored))});
  }
  return results;
}

ModelAttention attention(const Translator& loaded, const std::string& source,
                         const std::optional<std::string>& target, const BatchOptions& options) {
  const Unlocked released;
  const Translator translator = options.languages.of(loaded);
  if (target) {
    return attention_for(translator, source, {.tokens = translator.read_result(*target)});
  }
  TranslateOptions observed = with_interrupts(options);
  observed.observed = ObservedWeights::all;
  const auto found = translator.translate({&source, 1}, observed);
  HEED_CHECK(!found[0].empty(), "[attention] the search found no translation: give a target");
  return attention_for(translator, source, found[0][0].hypothesis);
}

bool has_languages_only(const nb::kwargs& options) {
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (name != "source_language" && name != "target_language") return false;
  }
  return true;
}

constexpr const char* kBatchDoc =
    "The n best translations of each sentence, best first, in the order given.\n\n"
    "A sentence's translations do not depend on the others. A sentence without words has one "
    "translation, which is empty. The folder of a model from a hub may have other defaults.";

// Loads a model as the class of its task.
nb::object load(nb::handle path, const nb::kwargs& options) {
  const std::filesystem::path folder = path_of("path", path);
  const PackedForm form = form_of("load", options);
  LoadedModel model = [&] {
    const Unlocked released;
    return load_model(folder, form);
  }();
  return std::visit([](auto& loaded) { return nb::cast(std::move(loaded)); }, model);
}

}  // namespace

void bind_translator(nb::module_& m) {
  bind_tokenizer(m);
  bind_model_results(m);
  bind_text_models(m);
  bind_encoders(m);
  bind_picture_models(m);
  bind_sequence_models(m);
  bind_question_models(m);
  bind_streams(m);

  BatchOptions batch;
  ScoreOptions score;
  const io::Fields batch_fields(batch), score_fields(score);
  const auto sign = [](const char* before, const io::Fields& fields, const char* after) {
    return signature(before, fields, after);
  };
  const std::string batch_signature =
      sign("def translate_batch(self, sentences: collections.abc.Iterable[str], *", batch_fields,
           ") -> list[list[Translation]]");
  const std::string iter_signature =
      sign("def translate_iter(self, sentences: collections.abc.Iterable[str], *", batch_fields,
           ") -> TranslationStream");
  const std::string one_signature =
      sign("def translate(self, text: str, *", batch_fields, ") -> str");
  const std::string score_signature = sign(
      "def score_batch(self, sources: collections.abc.Iterable[str], targets: "
      "collections.abc.Iterable[str], *",
      score_fields, ") -> list[Translation]");
  const std::string attention_signature =
      sign("def attention(self, source: str, target: str | None = None, *", batch_fields,
           ") -> Attention");
  ShortlistOptions shortlist;
  const std::string shortlist_signature =
      sign("def with_shortlist(self, path: str | os.PathLike[str], *", io::Fields(shortlist),
           ") -> Translator");
  const std::string constructor = constructor_signature();
  const std::string load_text = load_signature(
      "def load(path: str | os.PathLike[str], *",
      ") -> Translator | LanguageModel | Classifier | SentenceEncoder | MaskedModel | "
      "PictureClassifier | PictureCaptioner | ElementPointer | BitMachine | ClozeReader | "
      "StoryAnswerer");
  LoadModelOptions loading;
  const std::string load_help =
      help("Loads the model of a folder or of a training run, for any task.", io::Fields(loading));
  const std::string batch_help = help(kBatchDoc, batch_fields);

  nb::class_<Translator>(m, "Translator",
                         "A trained translator, from its folder or that of its training run.\n\n"
                         "Several threads may use one at once.")
      .def(
          "__init__",
          [](Translator* self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path folder = path_of("path", path);
            const PackedForm form = form_of("load", options);
            const Unlocked released;
            new (self) Translator(load_translator(folder, form));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()))
      .def(
          "translate_batch",
          [](const Translator& self, nb::handle sentences, const nb::kwargs& options) {
            return translate_batch(self, texts_of("sentences", sentences),
                                   options_of(BatchOptions::of(self), "translate_batch", options));
          },
          nb::arg("sentences"), nb::arg("options"), nb::sig(batch_signature.c_str()),
          batch_help.c_str())
      .def(
          "translate_iter",
          [](const Translator& self, nb::handle sentences, const nb::kwargs& options) {
            const BatchOptions given =
                options_of(BatchOptions::of(self), "translate_iter", options);
            return std::make_unique<TranslationStream>(given.languages.of(self),
                                                       translate_options(given), sentences);
          },
          nb::arg("sentences"), nb::arg("options"), nb::sig(iter_signature.c_str()),
          "The same as translate_batch, but each sentence's translations as soon as they and those "
          "before them are there: `for found in translator.translate_iter(lines)`, or `async "
          "for`. The sentences may be a generator; they are read up to 256 ahead.")
      .def(
          "translate",
          [](const Translator& self, nb::handle text, const nb::kwargs& options) {
            const NBestTexts found =
                translate_batch(self, {text_of("text", text)},
                                options_of(BatchOptions::of(self), "translate", options));
            return to_str(found[0].empty() ? "" : found[0][0].text);
          },
          nb::arg("text"), nb::arg("options"), nb::sig(one_signature.c_str()),
          "The best translation of one text; options as in translate_batch.")
      .def(
          "score_batch",
          [](const Translator& self, nb::handle sources, nb::handle targets,
             const nb::kwargs& options) {
            return score_batch(self, texts_of("sources", sources), texts_of("targets", targets),
                               options_of(ScoreOptions{}, "score_batch", options));
          },
          nb::arg("sources"), nb::arg("targets"), nb::arg("options"),
          nb::sig(score_signature.c_str()),
          "Scores each target as a translation of its source: returns the targets with "
          "their log-probabilities.")
      .def(
          "attention",
          [](const Translator& self, nb::handle source, nb::handle target,
             const nb::kwargs& options) {
            std::optional<std::string> given;
            if (!target.is_none()) given = text_of("target", target);
            HEED_CHECK(!given || has_languages_only(options),
                       "[attention] a target is given, so nothing is searched: leave out what "
                       "searches are told");
            return attention(self, text_of("source", source), given,
                             options_of(BatchOptions::of(self), "attention", options));
          },
          nb::arg("source"), nb::arg("target") = nb::none(), nb::arg("options"),
          nb::sig(attention_signature.c_str()),
          "The attention weights of every layer and head while the target is written for the "
          "source; "
          "without a target, the translation that is found, with options as in translate_batch.")
      .def(
          "with_shortlist",
          [](const Translator& self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path file = path_of("path", path);
            const ShortlistOptions given =
                options_of(ShortlistOptions{}, "with_shortlist", options);
            const Unlocked released;
            return self.with_shortlist(std::make_shared<const Shortlist>(
                load_shortlist(file, *self.source(), *self.target(), given)));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(shortlist_signature.c_str()),
          "The same translator, with the same model, that chooses among the probable translations "
          "of each token: a file of `heed shortlist`.")
      .def_prop_ro("source_tokenizer",
                   [](const Translator& self) { return PyTokenizer{self.source()}; })
      .def_prop_ro("target_tokenizer",
                   [](const Translator& self) { return PyTokenizer{self.target()}; })
      .def_prop_ro(
          "languages",
          [](const Translator& self) {
            std::vector<std::string> names;
            for (const Language& language : self.format().languages.all) {
              names.push_back(language.name);
            }
            return names;
          },
          "The languages to choose from; none if the model translates between two only.")
      .def_prop_ro(
          "config",
          [](const Translator& self) {
            ModelChoice config = self.model().choice();
            return object_of(io::Fields(config).write());
          },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "The config of the model.")
      .def("__repr__", [](const Translator& self) {
        return fmt::format("<heed.Translator: {} parameters, {} and {} tokens>",
                           self.model().parameter_count(), self.source()->size(),
                           self.target()->size());
      });

  m.def("load", &load, nb::arg("path"), nb::arg("options"), nb::sig(load_text.c_str()),
        load_help.c_str());
}

}  // namespace heed::python

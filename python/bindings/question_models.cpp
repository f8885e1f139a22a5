// heed.ClozeReader and heed.StoryAnswerer.
#include <fmt/format.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "heed/generation/model_folder.h"
#include "heed/plot/model_attention.h"
#include "python/bindings/load_options.h"
#include "python/bindings/model_results.h"
#include "python/bindings/options.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

ClozeQuestion question_of(nb::handle passage, nb::handle question) {
  return {.passage = cloze_words(text_of("passage", passage)),
          .question = cloze_words(text_of("question", question))};
}

StoryQuestion story_of(nb::handle sentences, nb::handle question) {
  StoryQuestion story{.sentences = {}, .question = story_words(text_of("question", question))};
  for (const std::string& sentence : texts_of("sentences", sentences)) {
    story.sentences.push_back(story_words(sentence));
  }
  return story;
}

// Calls f(first, second) for each pair of a list.
template <typename F>
void for_pairs(nb::handle pairs, const F& f) {
  for (const nb::handle pair : pairs) {
    HEED_CHECK(nb::isinstance<nb::sequence>(pair) && nb::len(pair) == 2,
               "[questions] {} is not a pair: give what a question is about, and the question",
               nb::cast<std::string>(nb::str(nb::repr(pair))));
    f(pair[0], pair[1]);
  }
}

void bind_cloze_reader(nb::module_& m) {
  const std::string constructor = constructor_signature();
  nb::class_<ClozeReader>(m, "ClozeReader",
                          "A trained model that fills the blanks of questions about passages, from "
                          "its folder or that of its training run.\n\nSeveral threads may use one "
                          "at once.")
      .def(
          "__init__",
          [](ClozeReader* self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path folder = path_of("path", path);
            const PackedForm form = form_of("load", options);
            const Unlocked released;
            new (self) ClozeReader(load_cloze_reader(folder, form));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()))
      .def(
          "read",
          [](const ClozeReader& self, nb::handle passage, nb::handle question) {
            const ClozeQuestion one = question_of(passage, question);
            std::vector<FoundWord> found;
            {
              const Unlocked released;
              found = read_questions(self, {&one, 1});
            }
            return to_str(found[0].word);
          },
          nb::arg("passage"), nb::arg("question"),
          nb::sig("def read(self, passage: str, question: str) -> str"),
          "The word of the passage that fills the blank, XXXXX, of the question. Words are "
          "separated by spaces.")
      .def(
          "read_batch",
          [](const ClozeReader& self, nb::handle questions) {
            std::vector<ClozeQuestion> all;
            for_pairs(questions, [&](nb::handle passage, nb::handle question) {
              all.push_back(question_of(passage, question));
            });
            std::vector<FoundWord> found;
            {
              const Unlocked released;
              found = read_questions(self, all);
            }
            nb::list words;
            for (const FoundWord& one : found) words.append(to_str(one.word));
            return words;
          },
          nb::arg("questions"),
          nb::sig("def read_batch(self, questions: collections.abc.Iterable[tuple[str, str]]) -> "
                  "list[str]"),
          "The same for several pairs of passage and question, which are computed together.")
      .def(
          "attention",
          [](const ClozeReader& self, nb::handle passage, nb::handle question) {
            const std::string text = fmt::format("{} ||| {}", text_of("passage", passage),
                                                 text_of("question", question));
            const Unlocked released;
            return ModelAttention{.view = plot::attention_of(self, text)};
          },
          nb::arg("passage"), nb::arg("question"),
          nb::sig("def attention(self, passage: str, question: str) -> Attention"),
          "The weights of the words of the passage.")
      .def_prop_ro(
          "config", [](const ClozeReader& self) { return model_config(*self.model); },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "The config of the model.")
      .def("__repr__", [](const ClozeReader& self) {
        return fmt::format("<heed.ClozeReader: {} parameters, {} words>",
                           self.model->parameter_count(), self.model->vocabulary());
      });
}

void bind_story_answerer(nb::module_& m) {
  const std::string constructor = constructor_signature();
  nb::class_<StoryAnswerer>(m, "StoryAnswerer",
                            "A trained model that answers questions about stories, from its folder "
                            "or that of its training run.\n\nSeveral threads may use one at once.")
      .def(
          "__init__",
          [](StoryAnswerer* self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path folder = path_of("path", path);
            const PackedForm form = form_of("load", options);
            const Unlocked released;
            new (self) StoryAnswerer(load_story_answerer(folder, form));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()))
      .def(
          "answer",
          [](const StoryAnswerer& self, nb::handle sentences, nb::handle question) {
            const StoryQuestion one = story_of(sentences, question);
            std::vector<StoryAnswer> found;
            {
              const Unlocked released;
              found = answer_questions(self, {&one, 1});
            }
            return to_str(found[0].answer);
          },
          nb::arg("sentences"), nb::arg("question"),
          nb::sig("def answer(self, sentences: collections.abc.Iterable[str], question: str) -> "
                  "str"),
          "The answer to a question about the sentences of a story.")
      .def(
          "answer_batch",
          [](const StoryAnswerer& self, nb::handle questions) {
            std::vector<StoryQuestion> all;
            for_pairs(questions, [&](nb::handle sentences, nb::handle question) {
              all.push_back(story_of(sentences, question));
            });
            std::vector<StoryAnswer> found;
            {
              const Unlocked released;
              found = answer_questions(self, all);
            }
            nb::list answers;
            for (const StoryAnswer& one : found) answers.append(to_str(one.answer));
            return answers;
          },
          nb::arg("questions"),
          nb::sig("def answer_batch(self, questions: "
                  "collections.abc.Iterable[tuple[collections.abc.Iterable[str], str]]) -> "
                  "list[str]"),
          "The same for several pairs of story and question, which are computed together.")
      .def(
          "attention",
          [](const StoryAnswerer& self, nb::handle sentences, nb::handle question) {
            std::string text;
            for (const std::string& one : texts_of("sentences", sentences)) text += one + "\n";
            text += text_of("question", question);
            const Unlocked released;
            return ModelAttention{.view = plot::attention_of(self, text)};
          },
          nb::arg("sentences"), nb::arg("question"),
          nb::sig("def attention(self, sentences: collections.abc.Iterable[str], question: str) -> "
                  "Attention"),
          "The weights of the sentences in each hop.")
      .def_prop_ro(
          "config", [](const StoryAnswerer& self) { return model_config(*self.model); },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "The config of the model.")
      .def("__repr__", [](const StoryAnswerer& self) {
        return fmt::format("<heed.StoryAnswerer: {} parameters, {} words>",
                           self.model->parameter_count(), self.model->vocabulary());
      });
}

}  // namespace

void bind_question_models(nb::module_& m) {
  bind_cloze_reader(m);
  bind_story_answerer(m);
}

}  // namespace heed::python

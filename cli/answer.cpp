// heed answer: answers to questions about stories.
#include <memory>
#include <string>
#include <vector>

#include "cli/question_filter.h"
#include "cli/verbs.h"
#include "heed/generation/story_answerer.h"

namespace heed::cli {
namespace {

void answer_all(const QuestionFlags& flags) {
  flags.model.set_threads();
  const StoryAnswerer answerer = load_story_answerer(flags.model.folder, flags.model.form());
  TextLines lines(flags.filter.input, flags.filter.policy());
  QuestionFilter<StoryQuestion> filter(flags, [&](const std::vector<StoryQuestion>& questions) {
    std::vector<AnswerLine> answers;
    for (StoryAnswer& found : answer_questions(answerer, questions)) {
      answers.push_back({std::move(found.answer), found.probability});
    }
    return answers;
  });
  StoryParser parser;
  feed_lines(
      lines, [&](const std::string& line) { filter.add(parser.add(line), lines.place()); },
      [&] { filter.flush(); });
  filter.finish();
}

}  // namespace

void add_answer(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("answer", "Answer questions about stories");
  const auto flags = std::make_shared<QuestionFlags>();
  add_question_flags(
      *verb, *flags, "the folder of a model that answers",
      "stories with questions: lines NUMBER SENTENCE, and NUMBER QUESTION, a tab and "
      "ANSWER; with answers, the accuracy is measured");
  verb->callback([flags] { run_filter([&] { answer_all(*flags); }); });
}

}  // namespace heed::cli

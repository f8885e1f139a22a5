// heed read: the words of passages that fill the blanks of questions.
#include <memory>
#include <string>
#include <vector>

#include "cli/question_filter.h"
#include "cli/verbs.h"
#include "heed/generation/cloze_reader.h"

namespace heed::cli {
namespace {

void read_all(const QuestionFlags& flags) {
  flags.model.set_threads();
  const ClozeReader reader = load_cloze_reader(flags.model.folder, flags.model.form());
  TextLines lines(flags.filter.input, flags.filter.policy());
  QuestionFilter<ClozeQuestion> filter(flags, [&](const std::vector<ClozeQuestion>& questions) {
    std::vector<AnswerLine> answers;
    for (FoundWord& found : read_questions(reader, questions)) {
      answers.push_back({std::move(found.word), found.probability});
    }
    return answers;
  });
  ClozeParser parser;
  feed_lines(
      lines, [&](const std::string& line) { filter.add(parser.add(line), lines.place()); },
      [&] { filter.flush(); });
  filter.add(ClozeParser::Step{.fault = parser.finish()}, lines.place());
  filter.finish();
}

}  // namespace

void add_read(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("read", "Fill the blanks of questions about passages");
  const auto flags = std::make_shared<QuestionFlags>();
  add_question_flags(*verb, *flags, "the folder of a reader",
                     "passages with questions: lines NUMBER ||| SENTENCE, then NUMBER ||| QUESTION "
                     "||| ANSWER; with answers, the accuracy is measured");
  verb->callback([flags] { run_filter([&] { read_all(*flags); }); });
}

}  // namespace heed::cli

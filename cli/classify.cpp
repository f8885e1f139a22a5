// heed classify: a filter from texts to labels, one per line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "cli/text_filter.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/generation/classify.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/ordering.h"
#include "heed/io/config.h"

namespace heed::cli {
namespace {

struct ClassifyFlags {
  ModelFlags model;
  FilterFlags files;
  bool all = false, pairs = false;
  std::int64_t max_source = ClassifyOptions{}.max_source;
  std::vector<std::string> ordering;  // "key=value"
};

// "label<TAB>probability"; with `all`, the other labels follow, most probable first.
std::string line_of(const TextClassifier& classifier, const std::vector<float>& probabilities,
                    bool all) {
  std::string line;
  for (const std::size_t place : by_probability(probabilities)) {
    line += fmt::format("{}{}\t{:.4f}", line.empty() ? "" : "\t", classifier.labels[place],
                        probabilities[place]);
    if (!all) break;
  }
  return line + "\n";
}

// A line as a text or, if lines are pairs, as the texts before and after its tab.
TextOrPair split(const std::string& line, bool is_pair, const std::string& place) {
  if (!is_pair) return {.text = line};
  const std::size_t tab = line.find('\t');
  HEED_CHECK(tab != std::string::npos,
             "[classify] {} has no tab: with --pairs a line is a text, a tab and another text",
             place);
  return {.text = std::string_view(line).substr(0, tab),
          .pair = std::string_view(line).substr(tab + 1)};
}

void classify(const ClassifyFlags& flags) {
  OrderingOptions ordering;
  io::set_fields(ordering, flags.ordering);  // reports mistakes before the model is read
  flags.model.set_threads();
  const TextClassifier classifier = load_text_classifier(flags.model.folder, flags.model.form());
  const std::int64_t longest = std::min(flags.max_source, classifier.model->max_length());
  TextLines lines(flags.files.input, flags.files.policy());
  Output output(flags.files.output);

  filter_texts<ReadText, std::vector<float>>(
      lines, ordering,
      {.read =
           [&](const std::string& line, const std::string& place) {
             return read_text(classifier, split(line, flags.pairs, place), longest);
           },
       .compute =
           [&](const std::vector<ReadText>& texts) { return heed::classify(classifier, texts); },
       .write =
           [&](const std::vector<float>& probabilities) {
             output.write(line_of(classifier, probabilities, flags.all));
           }});
  output.commit();
}

}  // namespace

void add_classify(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("classify", "Label texts, one a line");
  const auto flags = std::make_shared<ClassifyFlags>();
  add_model_flags(*verb, flags->model, "the folder of a classifier");
  add_filter_flags(*verb, flags->files, "the texts, one a line");
  verb->add_flag("--all", flags->all, "all labels, most probable first");
  verb->add_flag("--pairs", flags->pairs,
                 "lines are pairs of texts with a tab between, for models trained on pairs");
  verb->add_option("--max-source", flags->max_source, "maximum number of tokens read of a text")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_config_flags(*verb, io::list_fields(OrderingOptions{}), flags->ordering);
  verb->callback([flags] { run_filter([&] { classify(*flags); }); });
}

}  // namespace heed::cli

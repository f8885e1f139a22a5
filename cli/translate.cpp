// heed translate: a filter from sentences to translations, one a line.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/verbs.h"
#include "heed/generation/translator.h"
#include "heed/io/config.h"
#include "heed/io/lines.h"

namespace heed::cli {
namespace {

void translate(const std::string& model, const std::string& input,
               const std::vector<std::string>& flags) {
  TranslateOptions options;
  io::set_fields(options.search, flags);
  const Translator translator = load_translator(model);
  io::LineReader reader(input);
  std::vector<std::string> sentences;
  for (std::string line; reader.next(line);) sentences.push_back(line);
  for (const auto& found : translator.translate(sentences, options)) {
    fmt::print("{}\n", found.empty() ? "" : found[0].text);
  }
}

}  // namespace

void add_translate(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("translate", "Translate sentences, one a line");
  const auto model = std::make_shared<std::string>();
  const auto input = std::make_shared<std::string>("-");
  verb->add_option("-m,--model", *model, "the folder of a model")->required();
  verb->add_option("-i,--input", *input, "the file to translate; -: standard input");
  const auto flags = std::make_shared<std::vector<std::string>>();
  add_config_flags(*verb, io::list_fields(SearchOptions{}), *flags);
  verb->callback([=] { translate(*model, *input, *flags); });
}

}  // namespace heed::cli

// heed see attention "SENTENCE" --model DIR -o FILE.svg|png|html: draws the attention of a model.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/language_flags.h"
#include "cli/png.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/plot/attention_page.h"
#include "heed/plot/attention_sheet.h"
#include "heed/plot/model_attention.h"

namespace heed::cli {
namespace {

struct AttentionArguments {
  std::string sentence;
  std::string model;
  std::string out;
  std::optional<std::string> target;
  std::vector<std::string> search;
  LanguageFlags languages;
  plot::AttentionSelection selection;
};

plot::AttentionView view_of(const AttentionArguments& arguments) {
  LoadedModel model = load_model(arguments.model, stored_form(arguments.model));
  auto* const translator = std::get_if<Translator>(&model);
  HEED_CHECK(translator != nullptr ||
                 (!arguments.target && arguments.search.empty() && !arguments.languages.any()),
             "[see] {} holds no translator: leave out --target, languages and the options of a "
             "search",
             arguments.model);
  if (translator == nullptr) return plot::attention_of(model, arguments.sentence);
  *translator = arguments.languages.of(*translator);
  if (arguments.target) {
    HEED_CHECK(arguments.search.empty(),
               "[see] --target gives the translation, so nothing is searched: leave out {}",
               arguments.search[0]);
    return plot::attention_of(*translator, arguments.sentence,
                              Hypothesis{.tokens = translator->read_result(*arguments.target)});
  }
  SearchOptions search = translator->format().search;
  io::set_fields(search, arguments.search);
  return plot::attention_of(model, arguments.sentence, search);
}

void draw_attention(const AttentionArguments& arguments) {
  const std::string ending = std::filesystem::path(arguments.out).extension().string();
  HEED_CHECK(ending == ".svg" || ending == ".png" || ending == ".html",
             "[see] -o {}: the file's name must end in .svg, .png or .html", arguments.out);
  const plot::AttentionView view = view_of(arguments);
  if (ending == ".html") {
    io::write_file(arguments.out, plot::attention_html(view, arguments.selection));
  } else {
    const std::string svg = plot::attention_svg(view, arguments.selection);
    io::write_file(arguments.out, ending == ".png" ? png_of(svg) : svg);
  }
  fmt::print("{}\n", arguments.out);
}

std::map<std::string, plot::AttentionKind> kinds() {
  std::map<std::string, plot::AttentionKind> all;
  for (const auto& [kind, name] : enum_names(plot::AttentionKind{})) all.emplace(name, kind);
  return all;
}

}  // namespace

void add_see_attention(CLI::App& see) {
  CLI::App* const verb =
      see.add_subcommand("attention", "Draw what a model attends to over a sentence");
  const auto arguments = std::make_shared<AttentionArguments>();
  verb->add_option("sentence", arguments->sentence, "input of the model")->required();
  verb->add_option("-m,--model", arguments->model, "the folder of a model")->required();
  verb->add_option("-o,--output", arguments->out, "the file to write: .svg, .png or .html")
      ->required();
  verb->add_option("--target", arguments->target, "the translation; none: the model's own");
  verb->add_option("--kind", arguments->selection.kind, "encoder, decoder or cross; none: all")
      ->transform(CLI::CheckedTransformer(kinds()).description("encoder|decoder|cross"));
  verb->add_option("--layer", arguments->selection.layer, "from 1; none: all")
      ->check(CLI::Range(1, 1 << 20));
  verb->add_option("--head", arguments->selection.head, "from 1; none: all")
      ->check(CLI::Range(1, 1 << 20));
  add_language_flags(*verb, arguments->languages);
  add_config_flags(*verb, io::list_fields(SearchOptions{}), arguments->search);
  verb->callback([arguments] { draw_attention(*arguments); });
}

}  // namespace heed::cli

// heed fill: a filter from texts with masked tokens to the tokens that are likely to stand there.
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
#include "heed/generation/fill.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/ordering.h"
#include "heed/io/config.h"
#include "heed/io/json.h"

namespace heed::cli {
namespace {

struct FillFlags {
  ModelFlags model;
  FilterFlags files;
  std::string format = "text";
  std::int64_t top_k = FillOptions{}.top_k;
  std::int64_t max_source = FillOptions{}.max_source;
  std::vector<std::string> ordering;  // "key=value"
};

// The filled text and, for each masked position, its tokens: "text<TAB>token p, token p<TAB>…".
std::string text_line(const FilledText& filled) {
  std::string line = filled.text;
  for (const std::vector<Filling>& mask : filled.masks) {
    std::vector<std::string> tokens;
    for (const Filling& filling : mask) {
      tokens.push_back(fmt::format("{} {:.4f}", filling.token, filling.probability));
    }
    line += fmt::format("\t{}", fmt::join(tokens, ", "));
  }
  return line + "\n";
}

std::string json_line(const FilledText& filled) {
  std::vector<std::string> masks;
  for (const std::vector<Filling>& mask : filled.masks) {
    std::vector<std::string> tokens;
    for (const Filling& filling : mask) {
      tokens.push_back(fmt::format("{{\"token\":{},\"id\":{},\"probability\":{}}}",
                                   io::quote_json(filling.token), filling.id, filling.probability));
    }
    masks.push_back(fmt::format("[{}]", fmt::join(tokens, ",")));
  }
  return fmt::format("{{\"text\":{},\"masks\":[{}]}}\n", io::quote_json(filled.text),
                     fmt::join(masks, ","));
}

void fill_lines(const FillFlags& flags) {
  OrderingOptions ordering;
  io::set_fields(ordering, flags.ordering);  // reports mistakes before the model is read
  flags.model.set_threads();
  const TextFiller filler = load_text_filler(flags.model.folder, flags.model.form());
  TextLines lines(flags.files.input, flags.files.policy());
  Output output(flags.files.output);

  filter_texts<ReadText, FilledText>(
      lines, ordering,
      {.read =
           [&](const std::string& line, const std::string& place) {
             return read_masked(filler, line, flags.max_source, place);
           },
       .compute =
           [&](const std::vector<ReadText>& texts) {
             return fill(filler, texts, {.top_k = flags.top_k});
           },
       .write =
           [&](const FilledText& filled) {
             output.write(flags.format == "json" ? json_line(filled) : text_line(filled));
           }});
  output.commit();
}

}  // namespace

void add_fill(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("fill", "Find the tokens that [MASK] stands for");
  const auto flags = std::make_shared<FillFlags>();
  add_model_flags(*verb, flags->model, "the folder of a model of masked tokens");
  add_filter_flags(*verb, flags->files, "the texts with [MASK] or <mask>, one a line");
  verb->add_option("-k,--top-k", flags->top_k, "number of tokens for each masked position")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--format", flags->format,
                   "text: the filled text, then tokens and probabilities between tabs; or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  verb->add_option("--max-source", flags->max_source, "maximum number of tokens read of a text")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_config_flags(*verb, io::list_fields(OrderingOptions{}), flags->ordering);
  verb->callback([flags] { run_filter([&] { fill_lines(*flags); }); });
}

}  // namespace heed::cli

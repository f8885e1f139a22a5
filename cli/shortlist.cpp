// heed shortlist: makes the list of probable translations of each token that `heed translate
// --shortlist` reads, from parallel text.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/lexicon.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/shortlist.h"
#include "heed/io/config.h"

namespace heed::cli {
namespace {

struct ShortlistFlags {
  std::string model, source, target, out;
  std::string on_bad = "stop";
  std::vector<std::string> lexicon;  // "key=value"
};

void make_list(const ShortlistFlags& flags) {
  LexiconOptions options;
  io::set_fields(options, flags.lexicon);  // reports mistakes before the model is read
  const Translator translator = load_translator(flags.model);
  ParallelText text(flags.source, flags.target,
                    {.on_bad = flags.on_bad == "skip" ? OnBad::skip : OnBad::stop});
  const ParallelCorpus corpus =
      read_corpus(text, *translator.source(), *translator.target(), {.end_source = false});
  HEED_CHECK(corpus.size() > 0, "[shortlist] {} and {} have no pairs of sentences to learn from",
             flags.source, flags.target);
  const std::vector<LexicalEntry> entries = estimate_lexicon(corpus, options);
  save_shortlist(flags.out, entries, *translator.source(), *translator.target());
  const Shortlist list(entries);
  fmt::print("{}: {} translations of {} of {} source tokens, from {} pairs of sentences\n",
             flags.out, entries.size(), list.size(), translator.source()->size(), corpus.size());
}

}  // namespace

void add_shortlist(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "shortlist", "List the probable translations of each token, for faster translation");
  const auto flags = std::make_shared<ShortlistFlags>();
  verb->add_option("-m,--model", flags->model, "the folder of a translator")->required();
  verb->add_option("source", flags->source, "sentences, one a line")->required();
  verb->add_option("target", flags->target, "their translations")->required();
  verb->add_option("-o,--output", flags->out, "the file to write")->required();
  verb->add_option("--on-bad", flags->on_bad, "what to do with bad lines")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->capture_default_str();
  add_config_flags(*verb, io::list_fields(LexiconOptions()), flags->lexicon);
  verb->callback([flags] { run_filter([&] { make_list(*flags); }); });
}

}  // namespace heed::cli

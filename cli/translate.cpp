// heed translate: a filter from sentences to translations, one per line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/find_option.h"
#include "cli/language_flags.h"
#include "cli/model_flags.h"
#include "cli/ranked.h"
#include "cli/ranked_filter.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/version.h"
#include "heed/distributed/collectives.h"
#include "heed/generation/attention_file.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/output_form.h"
#include "heed/generation/translation_filter.h"
#include "heed/io/config.h"
#include "heed/io/file.h"

namespace heed::cli {
namespace {

struct TranslateFlags {
  ModelFlags model;
  FilterFlags files;
  std::string attention_out;
  std::int64_t max_source = 1024;
  std::string on_long = "cut";
  LanguageFlags languages;
  bool lists_languages = false;
  std::string prefix;
  bool has_prefix_column = false;
  std::string shortlist;
  std::vector<std::string> search, ordering, scheduling, form, candidates;  // "key=value"
};

// Limits the length of sentences, and reports longer ones.
class LengthLimit {
 public:
  LengthLimit(const TranslateFlags& flags, const Translator& translator)
      : frame_(translator.frame()),
        longest_(std::min(flags.max_source, translator.model().max_source() - frame_.around())),
        policy_(flags.on_long) {}

  /// The tokens, special ones included, for the model.
  std::vector<std::int32_t> apply(std::vector<std::int32_t> tokens, const std::string& place) {
    const std::int64_t length = std::ssize(tokens) - frame_.around();
    if (length <= longest_) return tokens;
    HEED_CHECK(policy_ != "stop",
               "[translate] {} has {} tokens, more than {}: cut the sentence, raise --max-source, "
               "or give --on-long cut or skip",
               place, length, longest_);
    const bool is_cut = policy_ == "cut";
    if (count_++ == 0) {
      print_note(fmt::format("{} has {} tokens: {}", place, length,
                             is_cut ? fmt::format("only the first {} are translated", longest_)
                                    : "an empty line stands for it"));
    }
    if (!is_cut) return {};
    tokens.resize(frame_.before.size() + static_cast<std::size_t>(longest_));
    tokens.insert(tokens.end(), frame_.after.begin(), frame_.after.end());
    return tokens;
  }
  std::int64_t count() const { return count_; }
  std::string describe() const {
    return fmt::format("{} sentences of more than {} tokens were {}", count_, longest_,
                       policy_ == "cut" ? "cut" : "skipped");
  }

 private:
  const TranslationFrame& frame_;
  std::int64_t longest_;
  std::string policy_;
  std::int64_t count_ = 0;
};

// A sentence and the text that its translation begins with: a column, or the same for all.
std::pair<std::string_view, std::string_view> split_prefix(const TranslateFlags& flags,
                                                           std::string_view line) {
  const std::size_t tab = flags.has_prefix_column ? line.find('\t') : line.npos;
  if (tab == line.npos) return {line, flags.prefix};
  return {line.substr(0, tab), line.substr(tab + 1)};
}

void list_languages(const Translator& translator) {
  const std::vector<Language>& all = translator.format().languages.all;
  if (all.empty()) print_note("the model has no languages to choose from");
  for (const Language& language : all) fmt::print("{}\n", language.name);
}

// With the list of candidates, if there is one.
Translator with_shortlist(const Translator& translator, const TranslateFlags& flags) {
  if (flags.shortlist.empty()) return translator;
  ShortlistOptions options;
  io::set_fields(options, flags.candidates);
  return translator.with_shortlist(std::make_shared<const Shortlist>(
      load_shortlist(flags.shortlist, *translator.source(), *translator.target(), options)));
}

// A loaded model and what to do with it.
struct TranslateWork {
  explicit TranslateWork(const TranslateFlags& given) : flags(given) {
    io::set_fields(options.search, flags.search);  // reports mistakes before the model is read
    io::set_fields(ordering, flags.ordering);
    io::set_fields(form, flags.form);
    flags.model.set_threads();
    io::set_fields(options.scheduling, flags.scheduling);
    options.scheduling.validate();
    loaded.emplace(load_translator(flags.model.folder, flags.model.form()));
    if (flags.lists_languages) return;
    translator.emplace(with_shortlist(flags.languages.of(*loaded), flags));
    options.search = translator->format().search;
    io::set_fields(options.search, flags.search);
    options.on_step = check_signals;
    options.observed = observed_for(form);
    limit.emplace(flags, *translator);
  }

  TranslationFilter make_filter(const std::function<void(const Translated&)>& write) const {
    return {*translator, options, ordering, write};
  }
  void add(TranslationFilter& filter, const std::string& line, const std::string& place) {
    const auto [sentence, prefix] = split_prefix(flags, line);
    std::vector<std::int32_t> source = limit->apply(translator->read(sentence), place);
    std::shared_ptr<const CopiedWords> copied = translator->copied(sentence, source);
    filter.add(std::move(source),
               prefix.empty() ? std::vector<std::int32_t>() : translator->target()->encode(prefix),
               std::move(copied));
  }
  std::string text_of(const Translated& translated) const {
    return output_lines(*translator, translated, form, options.search);
  }

  const TranslateFlags& flags;
  TranslateOptions options;
  OrderingOptions ordering;
  OutputForm form;
  std::optional<Translator> loaded, translator;  // as it is in the folder; with the languages
  std::optional<LengthLimit> limit;
};

void translate(const TranslateFlags& flags) {
  TranslateWork work(flags);
  if (flags.lists_languages) return list_languages(*work.loaded);
  TextLines lines(flags.files.input, flags.files.policy());
  Output output(flags.files.output);
  std::optional<AttentionFile> attention;
  if (!flags.attention_out.empty()) attention.emplace(flags.attention_out);
  if (attention) work.options.observed = ObservedWeights::all;
  TranslationFilter filter = work.make_filter([&](const Translated& translated) {
    if (attention) attention->add(*work.translator, translated);
    output.write(work.text_of(translated));
  });
  feed_lines(
      lines, [&](const std::string& line) { work.add(filter, line, lines.place()); },
      [&] { filter.flush(); });
  if (attention) attention->commit();
  output.commit();
  if (!lines.describe_bad().empty()) print_note("bad lines: " + lines.describe_bad());
  if (work.limit->count() > 1) print_note(work.limit->describe());
}

// The same over several ranks.
void translate_ranked(const TranslateFlags& flags, Communicator& ranks) {
  std::optional<TranslateWork> work;
  together(ranks, [&] {
    HEED_CHECK(
        flags.attention_out.empty() && !flags.lists_languages,
        "[translate] --attention-out and --list-languages have one output: leave mpirun out");
    work.emplace(flags);
    // A sample depends on the number of its sentence, which is counted in each block.
    HEED_CHECK(
        work->options.search.method == SearchMethod::beam,
        "[translate] samples over several ranks would differ from those of one process: leave "
        "mpirun out, or search by beams");
  });
  const std::filesystem::path& folder = flags.model.folder;
  run_ranked_filter(
      ranks, {.files = flags.files,
              .identity = fmt::format(
                  "{}\n{} {}", io::read_file("/proc/self/cmdline", std::size_t{1} << 22), version(),
                  std::filesystem::last_write_time(folder).time_since_epoch().count()),
              .run = [&](std::int64_t first, const auto& next, const auto& write) {
                TranslationFilter filter = work->make_filter([&](const Translated& translated) {
                  Translated numbered = translated;
                  numbered.number += first;
                  write(work->text_of(numbered));
                });
                std::int64_t number = first;
                for (std::string line; next(line);) {
                  work->add(filter, line, fmt::format("{}:{}", flags.files.input, ++number));
                }
                filter.flush();
              }});
  if (work->limit->count() > 1) print_note(work->limit->describe());
}

}  // namespace

void add_translate(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("translate", "Translate sentences, one a line");
  const auto flags = std::make_shared<TranslateFlags>();
  add_model_flags(*verb, flags->model, "the folder of a model");
  add_filter_flags(*verb, flags->files, "the sentences, one a line");
  verb->add_option("--max-source", flags->max_source, "maximum number of tokens of a sentence")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--on-long", flags->on_long,
                   "longer sentences: cut, skip (an empty line in their place) or stop")
      ->check(CLI::IsMember({"cut", "skip", "stop"}))
      ->capture_default_str();
  verb->add_option("--attention-out", flags->attention_out,
                   "all attention weights to a file: .safetensors or .json");
  add_language_flags(*verb, flags->languages);
  verb->add_flag("--list-languages", flags->lists_languages,
                 "write the languages of the model, one a line, and nothing else");
  CLI::Option* const prefix =
      verb->add_option("--prefix", flags->prefix, "text that all translations begin with");
  verb->add_flag("--prefix-column", flags->has_prefix_column,
                 "after a tab, lines have the text that their translations begin with")
      ->excludes(prefix);
  CLI::Option* const shortlist = verb->add_option(
      "--shortlist", flags->shortlist,
      "choose among the probable translations of each token: a file of `heed shortlist`");
  add_config_flags(*verb, io::list_fields(ShortlistOptions{}), flags->candidates);
  for (const char* name : {"--shortlist-best", "--shortlist-common"}) {
    find_option(*verb, name)->needs(shortlist);
  }
  add_config_flags(*verb, io::list_fields(OutputForm{}), flags->form);
  add_config_flags(*verb, io::list_fields(SearchOptions{}), flags->search);
  add_config_flags(*verb, io::list_fields(OrderingOptions{}), flags->ordering);
  add_config_flags(*verb, io::list_fields(SchedulerOptions{}), flags->scheduling);
  verb->callback([flags] {
    run_ranked([&](Communicator* ranks) {
      const bool is_alone = ranks == nullptr || ranks->size() == 1;
      run_filter([&] { is_alone ? translate(*flags) : translate_ranked(*flags, *ranks); });
    });
  });
}

}  // namespace heed::cli

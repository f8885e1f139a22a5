// heed corpus pack: writes tokenized pairs, or a tokenized text, into a folder that training reads
// from disk.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/filter_io.h"
#include "cli/pair_flags.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/data/packed_text_writer.h"
#include "heed/data/packed_writer.h"
#include "heed/io/codec.h"
#include "heed/models/model.h"

namespace heed::cli {
namespace {

struct PackFlags {
  std::string task{io::enum_name(Task::translate)};
  PairFlags pairs;
  std::vector<std::string> vocabs;
  std::string folder;
  PackingOptions options;
  int threads = 0;
};

void pack_pair_files(PackFlags& flags) {
  TokenizerPair tokenizers;
  tokenizers.source = tokenizers.target = load_tokenizer(flags.vocabs.front());
  if (flags.vocabs.size() == 2) tokenizers.target = load_tokenizer(flags.vocabs.back());
  ParallelText text = flags.pairs.open();
  Progress progress("pack", 0, {.stream = stderr});
  flags.options.progress = [&](std::int64_t pairs) {
    progress.update(pairs, fmt::format("{} pairs", pairs));
  };
  const CorpusReport report = pack_pairs(text, tokenizers, flags.folder, flags.options);
  progress.line(fmt::format("{}: {}; {}", flags.folder, describe(text.report()), describe(report)));
}

void pack_text_file(const PackFlags& flags) {
  HEED_CHECK(flags.pairs.target.empty() && flags.vocabs.size() == 1,
             "[packed] --task language: give one text file and one vocabulary");
  HEED_CHECK(flags.options.max_length == 0 && flags.options.max_ratio == 0.0,
             "[packed] --task language: --max-length and --max-ratio are limits of pairs; leave "
             "them out");
  Progress progress("pack", 0, {.stream = stderr});
  const auto told = [&](std::int64_t lines) {
    progress.update(lines, fmt::format("{} lines", lines));
  };
  const TextPackingReport report = pack_text(
      flags.pairs.source, *load_tokenizer(flags.vocabs.front()), flags.folder,
      {.on_bad = flags.pairs.on_bad == io::enum_name(OnBad::skip) ? OnBad::skip : OnBad::stop,
       .progress = told});
  const std::string bad = report.bad.describe();
  progress.line(fmt::format("{}: {} lines, {} tokens{}", flags.folder, report.lines, report.tokens,
                            bad.empty() ? "" : "; left out: " + bad));
}

void pack(PackFlags& flags) {
  HEED_CHECK(!std::filesystem::exists(flags.folder),
             "[packed] {} exists already: choose another name", flags.folder);
  if (flags.threads > 0) set_num_threads(flags.threads);
  flags.task == io::enum_name(Task::language) ? pack_text_file(flags) : pack_pair_files(flags);
}

}  // namespace

void add_corpus_pack(CLI::App& corpus) {
  CLI::App* const verb = corpus.add_subcommand(
      "pack", "Tokenize parallel text, or one text, into a folder that training reads from disk");
  const auto flags = std::make_shared<PackFlags>();
  add_pair_flags(*verb, flags->pairs);
  verb->add_option("--task", flags->task,
                   "translate: pairs of sentences; language: one text for a language model")
      ->check(CLI::IsMember({std::string(io::enum_name(Task::translate)),
                             std::string(io::enum_name(Task::language))}))
      ->capture_default_str();
  verb->add_option("--vocabs", flags->vocabs, "vocabulary files: one for both sides, or one each")
      ->expected(1, 2)
      ->required();
  verb->add_option("-o,--output", flags->folder, "the folder to write")->required();
  verb->add_option("--max-length", flags->options.max_length,
                   "tokens of a sentence at most; longer ones are left out; 0: no limit")
      ->check(CLI::Range(std::int64_t{0}, PackedLayout::kMaxLength))
      ->capture_default_str();
  verb->add_option("--max-ratio", flags->options.max_ratio,
                   "ratio of the lengths of a pair at most; 0: no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_thread_flag(*verb, flags->threads);
  verb->callback([flags] { run_filter([&] { pack(*flags); }); });
}

}  // namespace heed::cli

// heed corpus: checks parallel text before training, and makes a small corpus.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/grammar.h"
#include "heed/data/parallel_text.h"
#include "heed/text/unicode.h"

namespace heed::cli {
namespace {

struct GrammarArguments {
  GrammarOptions grammar{.held_out = 0};
  std::string prefix;
};

void write(const std::string& prefix, const std::vector<GrammarPair>& pairs) {
  write_pairs(prefix, pairs);
  fmt::print("{0}.en, {0}.zh, {0}.align: {1} sentences\n", prefix, pairs.size());
}

void make_grammar(const GrammarArguments& arguments) {
  const GrammarCorpus corpus = grammar_corpus(arguments.grammar);
  write(arguments.prefix, corpus.training);
  if (!corpus.held_out.empty()) write(arguments.prefix + ".test", corpus.held_out);
}

struct CheckArguments {
  std::string source, target;
  TextColumns columns;
  ParallelTextOptions text;
};

ParallelText open(const CheckArguments& arguments) {
  if (arguments.target.empty()) return {arguments.source, arguments.columns, arguments.text};
  return {arguments.source, arguments.target, arguments.text};
}

// The lengths of one side in words, separated by spaces, and in characters, for languages without
// spaces.
struct SideLengths {
  std::vector<std::int64_t> words, characters;

  void add(std::string_view line) {
    words.push_back(std::ssize(unicode::split_words(line)));
    characters.push_back(std::ssize(unicode::decode(line)));
  }
};

void print_lengths(const char* what, std::vector<std::int64_t>& lengths) {
  std::sort(lengths.begin(), lengths.end());
  double sum = 0;
  for (const std::int64_t length : lengths) sum += static_cast<double>(length);
  const std::size_t n = lengths.size();
  fmt::print("  {:<18} {:>9.1f} {:>9} {:>9} {:>9}\n", what, sum / static_cast<double>(n),
             lengths[n / 2], lengths[n * 99 / 100], lengths.back());
}

void check_corpus(const CheckArguments& arguments) {
  ParallelText text = open(arguments);
  SideLengths source, target;
  for (TextPair pair; text.next(pair);) {
    source.add(pair.source);
    target.add(pair.target);
  }
  fmt::print("{}\n", describe(text.report()));
  if (text.report().kept == 0) return;
  fmt::print("  {:<18} {:>9} {:>9} {:>9} {:>9}\n", "a sentence has", "mean", "median", "99 %",
             "most");
  print_lengths("source words", source.words);
  print_lengths("source characters", source.characters);
  print_lengths("target words", target.words);
  print_lengths("target characters", target.characters);
}

void add_grammar(CLI::App& corpus) {
  CLI::App* const verb =
      corpus.add_subcommand("grammar", "Make English and Chinese sentences with their alignment");
  const auto arguments = std::make_shared<GrammarArguments>();
  verb->add_option("-n,--sentences", arguments->grammar.sentences, "sentences, all different")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  verb->add_option("--held-out", arguments->grammar.held_out,
                   "more of them, in PREFIX.test.*: none of the others")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  verb->add_option("--seed", arguments->grammar.seed, "another seed, other sentences")
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->prefix, "writes PREFIX.en, PREFIX.zh, PREFIX.align")
      ->required();
  verb->callback([arguments] { make_grammar(*arguments); });
}

void add_check(CLI::App& corpus) {
  CLI::App* const verb =
      corpus.add_subcommand("check", "Look over parallel text: lines, lengths, bad lines");
  const auto arguments = std::make_shared<CheckArguments>();
  verb->add_option("source", arguments->source, "the source's sentences, or a file with tabs")
      ->required();
  verb->add_option("target", arguments->target, "the target's sentences; none: a column");
  verb->add_option("--source-column", arguments->columns.source, "of a file with tabs, from 1")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb->add_option("--target-column", arguments->columns.target, "of a file with tabs, from 1")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  const auto on_bad = std::make_shared<std::string>("stop");
  verb->add_option("--on-bad", *on_bad, "what to do with bad lines")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->capture_default_str();
  verb->callback([arguments, on_bad] {
    arguments->text.on_bad = *on_bad == "skip" ? OnBad::skip : OnBad::stop;
    check_corpus(*arguments);
  });
}

}  // namespace

void add_corpus(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("corpus", "Make or look over parallel text");
  verb->require_subcommand(1);
  add_check(*verb);
  add_grammar(*verb);
}

}  // namespace heed::cli

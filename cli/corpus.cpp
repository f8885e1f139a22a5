// heed corpus: checks or packs parallel text before training, and makes small corpora: sentences in
// two languages, sets of elements for models that point, and sequences of bits for algorithmic
// tasks.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/filter_io.h"
#include "cli/pair_flags.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/bit_tasks.h"
#include "heed/data/duplicates.h"
#include "heed/data/element_tasks.h"
#include "heed/data/grammar.h"
#include "heed/data/packed_pairs.h"
#include "heed/data/packed_text.h"
#include "heed/data/parallel_text.h"
#include "heed/data/shuffling.h"
#include "heed/io/file.h"
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

struct DuplicateArguments {
  DuplicateOptions duplicates;
  std::string out;
};

void make_duplicates(const DuplicateArguments& arguments) {
  io::write_file(arguments.out, duplicate_text(arguments.duplicates));
  fmt::print("{}: {} examples of {} characters\n", arguments.out, arguments.duplicates.examples,
             2 * arguments.duplicates.length + 2);
}

// Files of made lines, which depend on their numbers.
struct LineFiles {
  std::int64_t lines = 100000, held_out = 0;
  std::string prefix;
};

void write_lines(const LineFiles& files,
                 const std::function<std::string(std::int64_t number)>& make) {
  const auto write_some = [&](const std::string& path, std::int64_t first, std::int64_t count) {
    std::string text;
    for (std::int64_t i = 0; i < count; ++i) text += make(first + i) + "\n";
    io::write_file(path, text);
    fmt::print("{}: {} lines\n", path, count);
  };
  constexpr std::int64_t kHeldOut = std::int64_t{1} << 40;  // none of the others
  write_some(files.prefix + ".txt", 0, files.lines);
  if (files.held_out > 0) write_some(files.prefix + ".test.txt", kHeldOut, files.held_out);
}

void add_line_files(CLI::App& verb, LineFiles& files, std::uint64_t& seed) {
  verb.add_option("-n,--lines", files.lines, "number of lines")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  verb.add_option("--held-out", files.held_out, "more of them, in PREFIX.test.txt")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  verb.add_option("--seed", seed, "another seed, other lines")->capture_default_str();
  verb.add_option("-o,--output", files.prefix, "writes PREFIX.txt")->required();
}

struct ElementArguments {
  ElementTaskOptions task;
  LineFiles files;
  std::vector<std::int64_t> elements = {5, 10};
};

struct BitArguments {
  BitTaskOptions task;
  LineFiles files;
  std::vector<std::int64_t> lengths;
};

void make_sets(const ElementArguments& arguments) {
  ElementTaskOptions task = arguments.task;
  task.min_elements = arguments.elements.front();
  task.max_elements = arguments.elements.back();
  write_lines(arguments.files,
              [&](std::int64_t i) { return elements_line(make_element_set(task, i)); });
}

void make_bits(const BitArguments& arguments) {
  BitTaskOptions task = arguments.task;
  task.min_length = arguments.lengths.front();
  task.max_length = arguments.lengths.back();
  write_lines(arguments.files,
              [&](std::int64_t i) { return bits_line(make_bit_sequence(task, i)); });
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

// Reads all blocks of a packed corpus, and says how an epoch is shuffled.
void check_packed(const std::string& folder) {
  const PackedPairs corpus(folder);
  std::vector<PairLength> lengths;
  for (std::int64_t block = 0; block < corpus.blocks(); ++block) {
    check_signals();
    lengths.clear();
    corpus.read_lengths(block, lengths);
    corpus.check_tokens(block);
    if (block % 1024 == 0) corpus.forget();
  }
  const PackedInfo& info = corpus.info();
  fmt::print("{} packed pairs in {} blocks, {} source and {} target tokens\n", info.pairs,
             corpus.blocks(), info.source_tokens, info.target_tokens);
  const Shuffling order = measure_shuffling(corpus, {}, 0);
  fmt::print(
      "an epoch of {} windows: pairs move by {:.4f} of the corpus (random: 0.3333), correlation "
      "{:.5f} (0)\n"
      "neighbours are {:.4f} of the epoch apart (0.3333), {:.3g} of the pairs of rows of a batch "
      "come from one block, {:.1f} % padding\n",
      packed_windows(corpus, kShuffleWindow), order.moved, order.correlation, order.neighbours,
      order.same_block, 100.0 * order.padding);
}

// Reads all blocks of a packed text.
void check_packed_text(const std::string& folder) {
  const PackedText text(folder);
  text.check(check_signals);
  fmt::print("{} packed tokens of a vocabulary of {}\n", text.size(), text.info().vocabulary);
}

void check_corpus(const PairFlags& flags) {
  if (is_packed(flags.source)) return check_packed(flags.source);
  if (is_packed_text(flags.source)) return check_packed_text(flags.source);
  ParallelText text = flags.open();
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
  verb->add_option("--rare-names", arguments->grammar.form.rare_names,
                   "percent of names that are made up and the same in both languages")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  verb->add_flag("--spaced", arguments->grammar.form.spaced,
                 "spaces between all words and marks, for vocabularies of words");
  verb->add_option("-o,--output", arguments->prefix, "writes PREFIX.en, PREFIX.zh, PREFIX.align")
      ->required();
  verb->callback([arguments] { make_grammar(*arguments); });
}

void add_duplicate(CLI::App& corpus) {
  CLI::App* const verb =
      corpus.add_subcommand("duplicate", "Make a text of random words that all occur twice");
  const auto arguments = std::make_shared<DuplicateArguments>();
  verb->add_option("-n,--examples", arguments->duplicates.examples, "words")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  verb->add_option("--length", arguments->duplicates.length,
                   "characters of a word; with its copy and the ends of lines it takes twice as "
                   "many and two more")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  verb->add_option("--symbols", arguments->duplicates.symbols, "different characters")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--seed", arguments->duplicates.seed, "another seed, other words")
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->out, "the text file to write")->required();
  verb->callback([arguments] { make_duplicates(*arguments); });
}

void add_sets(CLI::App& corpus, ElementTask task, const char* help) {
  CLI::App* const verb = corpus.add_subcommand(std::string(io::enum_name(task)), help);
  const auto arguments = std::make_shared<ElementArguments>();
  arguments->task.task = task;
  add_line_files(*verb, arguments->files, arguments->task.seed);
  verb->add_option("--elements", arguments->elements, "the fewest and the most elements of a set")
      ->expected(1, 2)
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  verb->callback([arguments] { make_sets(*arguments); });
}

void add_bits(CLI::App& corpus, BitTask task, const char* help) {
  CLI::App* const verb = corpus.add_subcommand(std::string(io::enum_name(task)), help);
  const auto arguments = std::make_shared<BitArguments>();
  arguments->task.task = task;
  arguments->lengths = {task == BitTask::recall ? 2 : 1, task == BitTask::copy ? 20 : 6};
  if (task != BitTask::copy) arguments->task.bits = 6;
  add_line_files(*verb, arguments->files, arguments->task.seed);
  verb->add_option("--lengths", arguments->lengths,
                   task == BitTask::recall ? "the fewest and the most items of a sequence"
                                           : "the fewest and the most vectors of a sequence")
      ->expected(1, 2)
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  verb->add_option("--bits", arguments->task.bits, "bits of a vector, without marks")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  if (task == BitTask::repeat) {
    verb->add_option("--repeats", arguments->task.max_repeats, "the most repetitions")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
  }
  verb->callback([arguments] { make_bits(*arguments); });
}

void add_check(CLI::App& corpus) {
  CLI::App* const verb =
      corpus.add_subcommand("check", "Look over parallel text or a packed corpus");
  const auto flags = std::make_shared<PairFlags>();
  add_pair_flags(*verb, *flags);
  verb->callback([flags] { run_filter([&] { check_corpus(*flags); }); });
}

}  // namespace

void add_corpus(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "corpus", "Look over or pack parallel text, or make text or sets to learn from");
  verb->require_subcommand(1);
  add_check(*verb);
  add_corpus_pack(*verb);
  add_grammar(*verb);
  add_sets(*verb, ElementTask::hull, "Make sets of points, and the corners of their convex hulls");
  add_sets(*verb, ElementTask::sort, "Make sets of numbers, and their order");
  add_bits(*verb, BitTask::copy, "Make vectors of bits to copy");
  add_bits(*verb, BitTask::repeat, "Make vectors of bits to copy several times");
  add_bits(*verb, BitTask::recall, "Make items of bits, and one whose successor is asked for");
  add_duplicate(*verb);
  add_caption_corpus(*verb);
}

}  // namespace heed::cli

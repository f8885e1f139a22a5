#include "cli/score_flags.h"

#include <array>
#include <string_view>
#include <utility>

#include "cli/verbs.h"

namespace heed::cli {
namespace {

// Flags with one dash and several letters, which CLI11 does not support.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kLongNames = {{
    {"-nr", "--num-refs"},
    {"-sl", "--sentence-level"},
    {"-sv", "--smooth-value"},
    {"-tok", "--tokenize"},
    {"-lc", "--lowercase"},
    {"-cc", "--chrf-char-order"},
    {"-cw", "--chrf-word-order"},
    {"-ci", "--confidence"},
    {"-cin", "--confidence-n"},
    {"-par", "--paired-ar"},
    {"-pbs", "--paired-bs"},
    {"-parn", "--paired-ar-n"},
    {"-pbsn", "--paired-bs-n"},
    {"-sh", "--short"},
    {"-nc", "--no-color"},
}};

// An option whose values are the names of an enum.
template <typename E>
void add_choice(CLI::App& verb, const std::string& flags, E& value, const std::string& help) {
  std::vector<std::string> names;
  std::string initial;
  for (const auto& entry : enum_names(E{})) {
    names.emplace_back(entry.name);
    if (entry.value == value) initial = entry.name;
  }
  const auto choose = [&value](const std::string& word) {
    for (const auto& entry : enum_names(E{})) {
      if (entry.name == word) value = entry.value;
    }
  };
  verb.add_option_function<std::string>(flags, choose, help)
      ->check(CLI::IsMember(names))
      ->default_str(initial);
}

void add_files(CLI::App& verb, ScoreFlags& flags) {
  verb.add_option("references", flags.files,
                  "files of references, a sentence a line, plain or gzip")
      ->required();
  verb.add_option("-i,--input", flags.inputs,
                  "translations to score, one file a system; none: standard input");
  verb.add_option("--num-refs", flags.num_refs, "references in one file, separated by tabs (-nr)")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  verb.add_flag("--alignments", flags.alignments,
                "score word alignments instead: GOLD and the file to score");
  verb.add_flag("--one-based", flags.one_based, "the gold alignments count words from 1, not 0");
}

void add_metrics(CLI::App& verb, ScoreFlags& flags) {
  verb.add_option("-m,--metrics", flags.metrics, "what to compute: bleu, chrf, ter")
      ->check(CLI::IsMember({"bleu", "chrf", "ter"}))
      ->capture_default_str();
  verb.add_flag("--sentence-level", flags.sentence_level, "a score for each sentence (-sl)");
  add_choice(verb, "--tokenize", flags.bleu.tokenizer, "BLEU: tokeniser (-tok)");
  verb.add_flag("--lowercase", flags.bleu.lowercase, "BLEU: ignore case (-lc)");
  add_choice(verb, "-s,--smooth-method", flags.bleu.smoothing, "BLEU: smoothing of 0 matches");
  verb.add_option("--smooth-value", flags.bleu.smooth_value, "BLEU: value of floor or add-k (-sv)")
      ->check(CLI::Range(0.0, 1e6));
  verb.add_flag("--force", flags.force, "BLEU: do not warn of text that looks tokenised");
  verb.add_option("--chrf-char-order", flags.chrf.char_order,
                  "chrF: maximum order of character n-grams (-cc)")
      ->capture_default_str();
  verb.add_option("--chrf-word-order", flags.chrf.word_order,
                  "chrF: maximum order of word n-grams, 2 is chrF++ (-cw)")
      ->capture_default_str();
  verb.add_option("--chrf-beta", flags.chrf.beta, "chrF: weight of recall")->capture_default_str();
  verb.add_flag("--chrf-whitespace", flags.chrf.whitespace, "chrF: count white space");
  verb.add_flag("--chrf-lowercase", flags.chrf.lowercase, "chrF: ignore case");
  verb.add_flag("--chrf-eps-smoothing", flags.chrf.eps_smoothing, "chrF: smooth as chrF++.py does");
  verb.add_flag("--ter-case-sensitive", flags.ter.case_sensitive, "TER: distinguish case");
  verb.add_flag("--ter-asian-support", flags.ter.asian_support, "TER: split Chinese and Japanese");
  verb.add_flag("--ter-no-punct", flags.ter.no_punct, "TER: remove punctuation");
  verb.add_flag("--ter-normalized", flags.ter.normalized, "TER: separate punctuation from words");
}

void add_trials(CLI::App& verb, ScoreFlags& flags) {
  verb.add_flag("--confidence", flags.confidence, "mean and 95% interval by resampling (-ci)");
  verb.add_option("--confidence-n", flags.confidence_n,
                  "number of resamplings for --confidence (-cin)")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  CLI::Option* const bootstrap = verb.add_flag(
      "--paired-bs", flags.paired_bs, "compare systems with the first by resampling (-pbs)");
  verb.add_option("--paired-bs-n", flags.paired_bs_n,
                  "number of resamplings for --paired-bs (-pbsn)")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  verb.add_flag("--paired-ar", flags.paired_ar,
                "compare by swapping sentences between systems (-par)")
      ->excludes(bootstrap);
  verb.add_option("--paired-ar-n", flags.paired_ar_n, "number of trials for --paired-ar (-parn)")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  verb.add_option("--seed", flags.seed, "seed of all random numbers")
      ->envname("SACREBLEU_SEED")
      ->capture_default_str();
}

void add_style(CLI::App& verb, ScoreFlags& flags) {
  verb.add_option("-f,--format", flags.format, "json, text or latex")
      ->check(CLI::IsMember({"json", "text", "latex"}))
      ->capture_default_str();
  verb.add_option("-w,--width", flags.style.digits, "digits after the decimal point")
      ->check(CLI::Range(0, 30))
      ->capture_default_str();
  verb.add_flag("-b,--score-only", flags.style.score_only, "print only the score");
  verb.add_flag("--short", flags.style.short_signature, "signatures in short form (-sh)");
  verb.add_flag("--no-color", flags.no_color, "no colours on a terminal (-nc)");
  verb.add_flag("-q,--quiet", flags.quiet, "no warnings");
}

}  // namespace

std::vector<std::string> spell_out(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] != "score") return words;
  for (std::string& word : words) {
    for (const auto& [short_name, long_name] : kLongNames) {
      if (word == short_name) word = long_name;
    }
  }
  return words;
}

void add_score_flags(CLI::App& verb, ScoreFlags& flags) {
  add_files(verb, flags);
  add_metrics(verb, flags);
  add_trials(verb, flags);
  add_style(verb, flags);
}

}  // namespace heed::cli

// heed demo: the whole workflow in about two minutes. Makes a corpus of English and Chinese, trains
// a translator on it, scores it on held-out sentences, shows the attention for each word, and
// explains how to do the same with other files.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cli/run_training.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/grammar.h"
#include "heed/evaluation/bleu.h"
#include "heed/generation/alignment.h"
#include "heed/generation/examine.h"
#include "heed/generation/model_folder.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/io/lines.h"
#include "heed/models/transformer.h"
#include "heed/plot/alignment_text.h"
#include "heed/plot/attention_page.h"
#include "heed/plot/attention_sheet.h"
#include "heed/plot/model_attention.h"
#include "heed/text/unicode.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShown = 12;  // number of translations shown

struct DemoArguments {
  fs::path folder = "heed-demo";
  std::int64_t updates = 1500;
  GrammarOptions grammar{.sentences = 30000, .held_out = 1000};

  fs::path model() const { return folder / "model"; }
};

// Small enough for two minutes on two cores, large enough to learn the whole grammar.
TrainConfig demo_config(const DemoArguments& demo) {
  const auto file = [&](const char* name) { return (demo.folder / name).string(); };
  TrainConfig config;
  config.model = demo.model().string();
  config.train_sets = {file("corpus.en"), file("corpus.zh")};
  config.valid_sets = {file("held-out.en"), file("held-out.zh")};
  config.vocabulary = {.shared = false,
                       .size = 1000,
                       .model_type = PieceModel::bpe,
                       .character_coverage = 1.0,
                       .normalization = PieceNormalization::identity};
  config.batch_tokens = 2048;
  config.trainer.after = fmt::format("{}u", demo.updates);
  config.trainer.valid_freq = config.trainer.save_freq = "500u";
  config.trainer.early_stopping = 0;
  config.trainer.keep_last = 1;
  config.trainer.clip_norm = 1.0;
  config.trainer.seed = static_cast<std::int64_t>(demo.grammar.seed);
  config.trainer.schedule = {
      .kind = Schedule::cosine, .peak = 3e-3, .warmup = demo.updates / 10, .total = demo.updates};
  TransformerConfig& model = config.models.of<Transformer>();
  model.block.embed = 128;
  model.block.heads = 4;
  model.block.hidden = 256;
  model.block.norm.first = true;
  model.encoder_layers = model.decoder_layers = 2;
  model.tied = Tied::two;
  return config;
}

bool has_lines(const fs::path& file, std::int64_t count) {
  if (!fs::exists(file)) return false;
  io::LineReader reader(file);
  for (std::string line; reader.next(line);) --count;
  return count == 0;
}

// An interrupted demo resumes, and a finished one shows its results again, but only with the same
// settings. It is checked before anything is written.
void check_folder(const DemoArguments& demo, const TrainConfig& config) {
  const fs::path used = demo.model() / kUsedConfig;
  if (!fs::exists(used)) return;
  TrainConfig before;
  io::load_config(used, before);
  const bool is_same = io::to_toml(before) == io::to_toml(config) &&
                       has_lines(demo.folder / "corpus.en", demo.grammar.sentences) &&
                       has_lines(demo.folder / "held-out.en", demo.grammar.held_out);
  HEED_CHECK(is_same,
             "[demo] {} holds a demo with other settings: give another --folder, or remove it",
             demo.folder.string());
}

GrammarCorpus make_corpus(const DemoArguments& demo) {
  GrammarCorpus corpus = grammar_corpus(demo.grammar);
  fs::create_directories(demo.folder);
  write_pairs(demo.folder / "corpus", corpus.training);
  write_pairs(demo.folder / "held-out", corpus.held_out);
  return corpus;
}

// Translations of all held-out sentences.
std::vector<Translation> translate_all(const Translator& translator,
                                       const std::vector<GrammarPair>& pairs) {
  std::vector<std::string> sentences;
  for (const GrammarPair& pair : pairs) sentences.push_back(pair.english);
  std::vector<Translation> best;
  for (auto& found : translator.translate(sentences)) {
    best.push_back(found.empty() ? Translation{} : std::move(found[0]));
  }
  return best;
}

double bleu_of(const std::vector<Translation>& translations,
               const std::vector<GrammarPair>& pairs) {
  evaluation::Lines hypotheses, references;
  for (const Translation& translation : translations) hypotheses.push_back(translation.text);
  for (const GrammarPair& pair : pairs) references.push_back(pair.chinese);
  const evaluation::Bleu bleu({.tokenizer = evaluation::BleuTokenizer::zh});
  return corpus_score(bleu, hypotheses, {&references, 1}).value;
}

void show_translations(const std::vector<Translation>& translations,
                       const std::vector<GrammarPair>& pairs) {
  for (std::size_t i = 0; i < std::min(kShown, pairs.size()); ++i) {
    fmt::print("  {}\n  {}\n", pairs[i].english, translations[i].text);
    if (translations[i].text != pairs[i].chinese) {
      fmt::print("  {}   (what the grammar says)\n", pairs[i].chinese);
    }
    fmt::print("\n");
  }
}

// The correctly translated sentence with the most reordering: the picture of a diagonal says
// little.
std::size_t most_moved(const std::vector<Translation>& translations,
                       const std::vector<GrammarPair>& pairs) {
  std::size_t best = 0;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (translations[i].text != pairs[i].chinese || pairs[i].english.size() > 60) continue;
    std::int64_t crossings = 0;
    for (const GrammarPair::Link& a : pairs[i].links) {
      for (const GrammarPair::Link& b : pairs[i].links) {
        crossings += a.sure && b.sure && a.word < b.word && a.character > b.character ? 1 : 0;
      }
    }
    if (crossings > most) most = crossings, best = i;
  }
  return best;
}

std::vector<std::string> words_of(std::string_view sentence) {
  std::vector<std::string> words;
  for (const std::string_view word : unicode::split_words(sentence)) words.emplace_back(word);
  return words;
}

// Without the mark at the start of a SentencePiece text.
std::vector<std::string> pieces_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) pieces.push_back(tokenizer.decode({&id, 1}));
  return pieces;
}

// Prints the attention to the source for each piece of the translation.
void show_alignment(const Translator& translator, const GrammarPair& pair,
                    const Translation& translation) {
  const std::vector<std::int32_t> source = translator.read(pair.english);
  const std::vector<std::int32_t>& target = translation.hypothesis.tokens;
  const Tensor weights = source_attention(
      examine_weights(translator, {.source = source, .tokens = target}));  // [T + 1, S]
  const auto from = word_numbers(word_spans(*translator.source(), source), source.size());
  std::vector<std::int64_t> to(target.size() + 1, kNoWord);  // the end token is no word
  std::iota(to.begin(), to.end() - 1, 0);
  fmt::print("{}\n", plot::alignment_text({.weights = merge_words(weights, WordMap{from, to}),
                                           .source = words_of(pair.english),
                                           .target = pieces_of(*translator.target(), target)}));
}

void draw(const Translator& translator, const GrammarPair& pair, const Translation& translation,
          const fs::path& folder) {
  const plot::AttentionView view =
      plot::attention_of(translator, pair.english, translation.hypothesis);
  io::write_file(folder / "attention.svg", plot::attention_svg(view));
  io::write_file(folder / "attention.html", plot::attention_html(view));
}

void say_what_next(const DemoArguments& demo, const std::string& program) {
  fmt::print(
      "Pictures of what every head attended to:\n"
      "  {0}/attention.html   to explore in a browser\n"
      "  {0}/attention.svg\n\n"
      "Translate sentences of your own in that little language:\n"
      "  echo 'She will buy two red cars tomorrow.' | {1} translate --model {2}\n"
      "Train on your own files, a sentence a line, the same line in both:\n"
      "  {1} train --model my-model --train-sets train.en train.de --valid-sets valid.en valid.de\n"
      "All that this demo told the training is in {3}.\n",
      demo.folder.string(), program, demo.model().string(), (demo.model() / kUsedConfig).string());
}

void demo(const DemoArguments& arguments, const std::string& program) {
  const TrainConfig config = demo_config(arguments);
  check_folder(arguments, config);
  fmt::print("A grammar of heed's own makes {} English sentences and their Chinese translations.\n",
             arguments.grammar.sentences);
  const GrammarCorpus corpus = make_corpus(arguments);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, corpus.training.size()); ++i) {
    fmt::print("  {}\n  {}\n", corpus.training[i].english, corpus.training[i].chinese);
  }
  fmt::print("\nA Transformer learns to translate from them.\n");
  std::fflush(stdout);
  if (run_training({.config = config, .resume = true}) == Outcome::interrupted) return;

  const Translator translator = load_translator(arguments.model());
  const std::vector<Translation> translations = translate_all(translator, corpus.held_out);
  fmt::print("\nBLEU on {} sentences it has never seen: {:.1f}\n\n", corpus.held_out.size(),
             bleu_of(translations, corpus.held_out));
  show_translations(translations, corpus.held_out);
  const std::size_t moved = most_moved(translations, corpus.held_out);
  fmt::print("Where it looked while it wrote each piece of the translation:\n\n");
  show_alignment(translator, corpus.held_out[moved], translations[moved]);
  draw(translator, corpus.held_out[moved], translations[moved], arguments.folder);
  say_what_next(arguments, program);
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "demo", "Train a small translator in about two minutes and see why it chose each word");
  const auto arguments = std::make_shared<DemoArguments>();
  verb->add_option("--folder", arguments->folder, "where corpus, model and pictures go")
      ->capture_default_str();
  verb->add_option("--updates", arguments->updates, "training steps")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb->add_option("--sentences", arguments->grammar.sentences, "to train on")
      ->check(CLI::Range(1000, 10000000))
      ->capture_default_str();
  verb->add_option("--held-out", arguments->grammar.held_out, "sentences to judge by")
      ->check(CLI::Range(12, 100000))
      ->capture_default_str();
  verb->add_option("--seed", arguments->grammar.seed, "another seed makes other sentences")
      ->capture_default_str();
  verb->callback([arguments, program = app.get_name()] { demo(*arguments, program); });
}

}  // namespace heed::cli

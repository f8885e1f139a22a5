// Random configs of whole models: trained for a few updates with 1 and 3 threads and with a stop in
// between, to the same bytes; saved and read again; decoded with and without a cache.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "heed/attention/registry.h"
#include "heed/autograd/tape.h"
#include "heed/generation/classify.h"
#include "heed/generation/model_folder.h"
#include "heed/io/config.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "heed/training/make_job.h"
#include "heed/training/run.h"
#include "torture/cases.h"
#include "torture/compare.h"
#include "torture/smooth.h"
#include "torture/work_folder.h"

namespace heed::torture {
namespace {

namespace fs = std::filesystem;

constexpr int kUpdates = 5;

// A config as the text of its flags.
using Flags = std::vector<std::string>;

std::string draw_attention(Draws& draws, bool cross) {
  std::vector<std::string> texts = {"multi_head"};
  for (const Mechanism& mechanism : mechanisms()) {
    const Traits& traits = mechanism.traits;
    if (traits.form != Form::sequence || !(cross ? traits.cross : traits.self)) continue;
    // The sample of the location score knows 80 positions; sentences of characters are longer.
    const bool location = mechanism.name == "luong_location";
    texts.push_back(
        fmt::format("{} {}", mechanism.name, location ? "max_length=400" : mechanism.about.sample));
  }
  return draws.chance(0.4) ? texts[0] : draws.pick(texts);
}

void draw_block(Draws& draws, const std::string& section, Flags& flags) {
  const auto set = [&](const std::string& key, const std::string& value) {
    flags.push_back(fmt::format("{}.{}={}", section, key, value));
  };
  const std::int64_t heads = draws.pick(std::vector<std::int64_t>{1, 2, 4});
  set("embed", fmt::to_string(heads * draws.pick(std::vector<std::int64_t>{4, 8, 12})));
  set("heads", fmt::to_string(heads));
  if (heads == 4 && draws.chance(0.3)) set("kv_heads", "2");
  set("hidden", fmt::to_string(draws.between(5, 40)));
  set("activation",
      draws.pick(std::vector<std::string>{"relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu"}));
  set("norm", draws.chance(0.5) ? "layer" : "rms");
  set("norm_first", draws.chance(0.5) ? "true" : "false");
  set("bias", draws.chance(0.7) ? "true" : "false");
  set("dropout", draws.chance(0.5) ? "0" : "0.1");
  std::vector<std::string> codes;
  for (const PositionKind& kind : positions()) codes.emplace_back(kind.name);
  set("positions", draws.chance(0.3) ? "sinusoidal" : draws.pick(codes));
}

Flags draw_flags(Draws& draws) {
  Flags flags = {"after=5u",         "save_freq=2u",      "valid_freq=3u",
                 "batch_tokens=150", "schedule.warmup=3", "schedule.peak=0.01"};
  const std::string corpus = small_corpus().string();
  const auto set_texts = [&](const std::string& names, const std::string& tests) {
    flags.push_back("train_sets=" + names);
    flags.push_back("valid_sets=" + tests);
  };
  switch (draws.below(4)) {
    case 0:
    case 1: {
      set_texts(fmt::format("[\"{0}.en\", \"{0}.zh\"]", corpus),
                fmt::format("[\"{0}.test.en\", \"{0}.test.zh\"]", corpus));
      draw_block(draws, "transformer", flags);
      flags.push_back(fmt::format("transformer.encoder_layers={}", draws.between(0, 2)));
      flags.push_back(fmt::format("transformer.decoder_layers={}", draws.between(1, 2)));
      flags.push_back("transformer.encoder_attention=" + draw_attention(draws, false));
      flags.push_back("transformer.decoder_attention=" + draw_attention(draws, false));
      flags.push_back("transformer.cross_attention=" + draw_attention(draws, true));
      flags.push_back("transformer.tied=" +
                      draws.pick(std::vector<std::string>{"none", "two", "three"}));
      break;
    }
    case 2:
      flags.push_back("task=language");
      flags.push_back(fmt::format("block_length={}", draws.between(4, 20)));
      set_texts(fmt::format("[\"{}.en\"]", corpus), fmt::format("[\"{}.test.en\"]", corpus));
      draw_block(draws, "language_model", flags);
      flags.push_back(fmt::format("language_model.layers={}", draws.between(1, 2)));
      flags.push_back("language_model.attention=" + draw_attention(draws, false));
      break;
    default:
      flags.push_back("task=classify");
      set_texts(fmt::format("[\"{}.tsv\"]", corpus), fmt::format("[\"{}.test.tsv\"]", corpus));
      draw_block(draws, "classifier", flags);
      flags.push_back(fmt::format("classifier.layers={}", draws.between(1, 2)));
      flags.push_back("classifier.attention=" + draw_attention(draws, false));
  }
  flags.push_back(draws.chance(0.5) ? "vocabulary.kind=words" : "vocabulary.kind=characters");
  flags.push_back("optimizer.kind=" + draws.pick(std::vector<std::string>{"adam", "adamw", "sgd"}));
  if (draws.chance(0.3)) flags.push_back("ema=0.8");
  if (draws.chance(0.3)) flags.push_back("accumulate=2");
  if (draws.chance(0.3)) flags.push_back("clip_norm=0.5");
  if (draws.chance(0.2)) flags.push_back("checkpoint_activations=true");
  flags.push_back(fmt::format("seed={}", draws.between(1, 1000)));
  return flags;
}

TrainConfig config_of(const Flags& flags, const fs::path& folder, std::int64_t threads) {
  TrainConfig config;
  io::set_fields(config, std::span<const std::string>(flags));
  config.model = folder.string();
  config.cpu_threads = threads;
  return config;
}

// Trains, with a stop before update `stop` if that is positive.
void train(const TrainConfig& config, int stop) {
  if (stop > 0) {
    int calls = 0;
    run_training({.config = config}, {.interrupted = [&] { return calls++ >= stop; }});
  }
  run_training({.config = config, .resume = stop > 0});
}

void require_same_files(const fs::path& a, const fs::path& b, const std::string& what) {
  const std::string last = fmt::format("checkpoint_{}", kUpdates);
  for (const fs::directory_entry& entry : fs::directory_iterator(a / last)) {
    const fs::path name = entry.path().filename();
    if (name == kProgressFile) continue;  // it has the time
    if (bytes_of(entry.path()) != bytes_of(b / last / name)) {
      throw Wrong(fmt::format("{}: {} has other bytes", what, name.string()));
    }
  }
}

bool all_smooth(const TrainConfig& config) {
  const ModelChoice& model = config.models.at(config.model_kind());
  for (const AttentionChoice& attention : model.config().attentions()) {
    if (!is_smooth(attention.mechanism())) return false;
  }
  return true;
}

bool all_decode(const TrainConfig& config) {
  const auto attentions = config.models.at(config.model_kind()).config().attentions();
  return std::ranges::all_of(
      attentions, [](const AttentionChoice& attention) { return attention.traits().decodes; });
}

// Ties may fall either way, so results may differ if their scores do not.
void check_translator(const fs::path& folder, Draws& draws) {
  const Translator translator = load_translator(folder);
  std::vector<std::string> sentences = {"Tom has a dog.", "She bought three books.", "", "x"};
  TranslateOptions options{.search = {.beam_size = draws.between(1, 4), .max_length = 12}};
  const auto automatic = translator.translate(sentences, options);
  options.stepping = Stepping::replayed;
  const auto replayed = translator.translate(sentences, options);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const Hypothesis& a = automatic[i].at(0).hypothesis;
    const Hypothesis& b = replayed[i].at(0).hypothesis;
    if (a.tokens != b.tokens && std::abs(a.score - b.score) > 1e-4) {
      throw Wrong(fmt::format("sentence {} has other tokens without a cache: score {} and {}", i,
                              a.score, b.score));
    }
  }
}

void check_language_model(const fs::path& folder, Draws& draws) {
  const NoGrad off;
  const TextGenerator generator = load_text_generator(folder);
  constexpr std::int64_t kLength = 14;
  Tensor ids = empty({2, kLength}, DType::i64);
  for (std::int64_t& id : ids.mutable_values<std::int64_t>()) {
    id = draws.below(generator.model->vocabulary());
  }
  const Tensor whole = (*generator.model)(ids);
  const auto decoding = generator.model->start(2);
  for (std::int64_t t = 0, n = 0; t < kLength; t += n) {
    n = std::min(draws.between(1, 3), kLength - t);
    Outcome step, expected;
    step.add("a step", decoding->step(clone_data(view::slice(ids, 1, t, t + n))));
    expected.add("a step", clone_data(view::slice(whole, 1, t, t + n)));
    require_close(step, expected, {1e-4, 1e-4}, fmt::format("decoding from position {}", t));
  }
}

void check_classifier(const fs::path& folder) {
  const TextClassifier classifier = load_text_classifier(folder);
  const std::vector<std::string> texts = {"Tom has a dog.", "",
                                          "She bought three books in the park.",
                                          "a a a a a a a a a a a a a a a a"};
  const auto together = classify_texts(classifier, texts);
  const auto alone = classify_texts(classifier, texts, {.batch_tokens = 1});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t c = 0; c < together[i].size(); ++c) {
      if (!(std::abs(together[i][c] - alone[i][c]) < 1e-4f)) {
        throw Wrong(fmt::format("text {} alone has probability {}, in a batch {}", i, alone[i][c],
                                together[i][c]));
      }
    }
  }
}

void check_saving(const fs::path& folder, const fs::path& copy) {
  fs::create_directories(copy);
  std::visit([&](const auto& model) { save_model(model, copy); }, load_model(folder));
  for (const std::string_view name : {kModelFile, kModelConfigFile}) {
    if (bytes_of(folder / name) != bytes_of(copy / name)) {
      throw Wrong(fmt::format("{} has other bytes after reading and writing it", name));
    }
  }
}

}  // namespace

std::string model_case(Draws& draws) {
  const Flags flags = draw_flags(draws);
  const WorkFolder folder;
  const std::string text = fmt::format("{}", fmt::join(flags, " "));
  try {
    make_job(config_of(flags, folder / "none", 1), {});
  } catch (const Error& error) {
    return fmt::format("refused ({}): {}", error.what(), text);
  }
  try {
    train(config_of(flags, folder / "one", 1), 0);
    train(config_of(flags, folder / "three", 3), 0);
    train(config_of(flags, folder / "resumed", 2), static_cast<int>(draws.between(1, 4)));
    require_same_files(folder / "one", folder / "three", "3 threads");
    require_same_files(folder / "one", folder / "resumed", "resumed");
    const fs::path last = folder / "one" / fmt::format("checkpoint_{}", kUpdates);
    check_saving(last, folder / "copy");
    const TrainConfig config = config_of(flags, folder / "none", 1);
    if (all_smooth(config)) {
      if (config.task == Task::translate) check_translator(last, draws);
      if (config.task == Task::language && all_decode(config)) check_language_model(last, draws);
      if (config.task == Task::classify) check_classifier(last);
    }
  } catch (const std::exception& error) {
    throw Wrong(fmt::format("{}: {}", text, error.what()));
  }
  return text;
}

}  // namespace heed::torture

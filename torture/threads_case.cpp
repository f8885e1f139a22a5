#include "torture/threads_case.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "heed/base/threads.h"
#include "heed/data/grammar.h"
#include "heed/evaluation/bleu.h"
#include "heed/generation/classify.h"
#include "heed/generation/generate.h"
#include "heed/generation/model_folder.h"
#include "heed/io/config.h"
#include "heed/training/run.h"
#include "torture/cases.h"
#include "torture/compare.h"
#include "torture/work_folder.h"

namespace heed::torture {
namespace {

namespace fs = std::filesystem;

// Objects that all threads use, and what they gave when one thread used them.
class Shared {
 public:
  Shared()
      : translator_(load_translator(trained("translate"))),
        generator_(load_text_generator(trained("language"))),
        classifier_(load_text_classifier(trained("classify"))) {
    for (std::int64_t i = 0; i < 12; ++i) sentences_.push_back(grammar_sentence(3, i).english);
    for (std::size_t i = 0; i < kJobs; ++i) expected_.push_back(result(i));
  }

  static constexpr std::size_t kJobs = 5;

  void check(std::size_t job) const {
    if (result(job) != expected_[job]) {
      throw Wrong(fmt::format("shared job {} gives another result among threads", job));
    }
  }

 private:
  fs::path trained(const std::string& task) {
    TrainConfig config;
    const std::string corpus = small_corpus().string();
    std::vector<std::string> flags = {"task=" + task,
                                      "after=4u",
                                      "batch_tokens=200",
                                      "vocabulary.kind=words",
                                      "transformer.embed=16",
                                      "transformer.heads=2",
                                      "transformer.hidden=32",
                                      "transformer.encoder_layers=1",
                                      "transformer.decoder_layers=1",
                                      "language_model.embed=16",
                                      "language_model.heads=2",
                                      "language_model.layers=1",
                                      "classifier.embed=16",
                                      "classifier.heads=2",
                                      "classifier.layers=1",
                                      "block_length=16"};
    if (task == "translate") {
      flags.push_back(fmt::format("train_sets=[\"{0}.en\", \"{0}.zh\"]", corpus));
    } else {
      const char* const ending = task == "classify" ? "tsv" : "en";
      flags.push_back(fmt::format("train_sets=[\"{}.{}\"]", corpus, ending));
    }
    config.model = (folder_ / task).string();
    io::set_fields(config, std::span<const std::string>(flags));
    run_training({.config = config});
    return config.model;
  }

  std::string result(std::size_t job) const {
    switch (job) {
      case 0: {
        std::string all;
        for (const auto& found :
             translator_.translate(sentences_, {.search = {.beam_size = 3, .max_length = 10}})) {
          all += fmt::format("{} {}\n", found.at(0).text, found.at(0).hypothesis.score);
        }
        return all;
      }
      case 1: {
        GenerateOptions options;
        options.search.max_length = 12;
        return generate_text(generator_, read_prompt(generator_, "Tom"), options)[0].text;
      }
      case 2:
        return fmt::format("{}", fmt::join(classify_texts(classifier_, sentences_)[0], " "));
      case 3: {
        std::string all;
        for (const std::string& sentence : sentences_) {
          const auto ids = translator_.source()->encode(sentence);
          all += fmt::format("{} {}\n", fmt::join(ids, " "), translator_.source()->decode(ids));
        }
        return all;
      }
      default: {
        const evaluation::Bleu bleu;
        const std::vector<evaluation::Lines> references = {sentences_};
        return fmt::format("{}", corpus_score(bleu, sentences_, references).value);
      }
    }
  }

  WorkFolder folder_;
  Translator translator_;
  TextGenerator generator_;
  TextClassifier classifier_;
  std::vector<std::string> sentences_;
  std::vector<std::string> expected_;
};

}  // namespace

std::string run_threads(std::uint64_t seed, int threads, double seconds) {
  const Shared shared;
  keep_isa();
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> cases = 0, calls = 0;
  std::mutex mutex;
  std::optional<std::string> wrong;
  const auto work = [&](std::uint64_t number) {
    Draws draws(seed * 1000 + number);
    while (!stop) {
      std::string what = "a shared object";
      try {
        if (draws.chance(0.5)) {
          shared.check(static_cast<std::size_t>(draws.below(Shared::kJobs)));
          ++calls;
        } else {
          const auto kinds = case_kinds();
          const CaseKind& kind = kinds[static_cast<std::size_t>(draws.below(std::ssize(kinds)))];
          const auto own = static_cast<std::uint64_t>(draws.below(1 << 30));
          what = fmt::format("case {} {}", kind.name, own);
          Draws of_case(own);
          kind.run(of_case);
          ++cases;
        }
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        if (!wrong) wrong = fmt::format("{}: {}", what, error.what());
        stop = true;
      }
    }
  };
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(work, static_cast<std::uint64_t>(i));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!stop && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  stop = true;
  for (std::thread& thread : running) thread.join();
  if (wrong) throw Wrong(*wrong);
  return fmt::format("{} threads: {} cases, {} calls of shared objects", threads, cases.load(),
                     calls.load());
}

}  // namespace heed::torture

// Translation with Transformer-Tiny: sentences per second of the greedy search against a PyTorch
// loop with cached keys and values, and of a beam of 5 against heed's greedy search. Every result
// has the same number of words, so that untrained weights do the same work as trained ones.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "benchmarks/models/peer_file.h"
#include "benchmarks/models/translator_case.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/peer.h"
#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/search.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kWords = 16;
constexpr int kRounds = 4, kDecodeRepeats = 2;

SearchOptions forced(std::int64_t beam) {
  return {.beam_size = beam, .min_length = kWords, .max_length = kWords};
}

class Decoder {
 public:
  explicit Decoder(TrainedTranslator& trained) : model_(trained.model()), batch_(trained.at(0)) {
    model_.eval();
    for (std::int64_t i = 0; i < sentences(); ++i) {
      starts_.push_back({.source_length = batch_.source.size(1)});
    }
  }

  std::int64_t sentences() const { return batch_.source.size(0); }

  std::vector<NBest> run(std::int64_t beam) const {
    const NoGrad off;
    const Memory memory = model_.encode(batch_.source, batch_.source_lengths);
    DecodingSteps steps(model_.output_layer(), sentences(), model_.start(memory));
    return search(steps, starts_, make_plan(forced(beam), {}));
  }

 private:
  Transformer& model_;
  const Batch& batch_;
  std::vector<Start> starts_;
};

// A checksum per sentence: the sum of position times word, as in the peer.
std::vector<std::int64_t> row_sums(const std::vector<NBest>& found) {
  std::vector<std::int64_t> sums;
  for (const NBest& best : found) {
    std::int64_t sum = 0, place = 0;
    for (const std::int32_t word : best.at(0).tokens) sum += ++place * word;
    sums.push_back(sum);
  }
  return sums;
}

// The share of sentences that the two sides decoded differently.
double difference(const std::vector<std::int64_t>& ours, const std::string& theirs) {
  std::istringstream words(theirs);
  std::int64_t different = 0;
  for (const std::int64_t sum : ours) {
    std::string word;
    std::getline(words, word, ',');
    if (word != fmt::to_string(sum)) ++different;
  }
  return static_cast<double>(different) / static_cast<double>(ours.size());
}

void compare(Report& report, Peer* peer, TrainedTranslator& trained, int threads) {
  const Threads use(threads);
  const Decoder decoder(trained);
  const PeerFile file(trained);
  const std::vector<std::int64_t> sums = row_sums(decoder.run(1));
  double greedy = 1e30, beam = 1e30, theirs = 1e30, different = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    if (peer != nullptr) {
      const std::string answer =
          peer->ask(fmt::format("decode file={} length={} threads={} repeats={}", file.path(),
                                kWords, threads, kDecodeRepeats));
      theirs = std::min(theirs, std::stod(field(answer, "best_us")) * 1e-6);
      different = difference(sums, field(answer, "sums"));
      Peer::settle();
    }
    for (int i = 0; i < kDecodeRepeats; ++i) {
      greedy = std::min(greedy, seconds([&] { decoder.run(1); }));
      beam = std::min(beam, seconds([&] { decoder.run(5); }));
    }
  }
  const auto rate = [&](double time) {
    return fmt::format("{:.0f} sentences/s", static_cast<double>(decoder.sentences()) / time);
  };
  const std::string group =
      fmt::format("translation, {} sentences at once, {} words each", decoder.sentences(), kWords);
  if (peer != nullptr) {
    report.add({group, "Transformer-Tiny, greedy", threads, theirs / greedy, 1.0, rate(greedy),
                rate(theirs) + " PyTorch, eager, cached", different});
  }
  report.add({group, "Transformer-Tiny, beam of 5", threads, greedy / beam, 0.2, rate(beam),
              rate(greedy) + " our greedy search"});
}

}  // namespace

void model_decoding(Report& report) {
  auto peer = Peer::start("models_peer.py");
  if (!peer)
    report.note("\nPyTorch's greedy search: skipped, there is none (set HEED_PEER_PYTHON)");
  TrainedTranslator trained(transformer_tiny(), {.batch_tokens = 1024, .batches = 1});
  report.note("\nthe error is the share of sentences that PyTorch translates differently");
  for (const int threads : {1, 2}) compare(report, peer ? &*peer : nullptr, trained, threads);
}

}  // namespace heed::bench

#include "benchmarks/models/recurrent_case.h"

#include "heed/nn/checkpoint_file.h"

namespace heed::bench {
namespace {

constexpr double kRecurrentBeta2 = 0.999;

RecurrentTranslatorConfig with_vocabulary(RecurrentTranslatorConfig config, std::int64_t size) {
  config.source_vocabulary = config.target_vocabulary = size;
  config.padding = SpecialTokens().padding;
  return config;
}

}  // namespace

RecurrentTranslatorConfig bahdanau_translator() { return {.dropout = 0.5}; }

RecurrentTranslatorConfig luong_translator() {
  RecurrentTranslatorConfig config{.bidirectional = false, .bridge = Bridge::copy, .dropout = 0.5};
  config.decoder.cell = Cell::lstm;
  config.decoder.layers = 2;
  config.decoder.attention = "luong_general";
  config.decoder.feeding = Feeding::none;
  config.decoder.readout = Readout::attentional;
  return config;
}

TrainedRecurrent::TrainedRecurrent(RecurrentTranslatorConfig config, const CorpusShape& corpus)
    : batches_(multi30k_batches(corpus)),
      generator_(1),
      model_(with_vocabulary(std::move(config), corpus.vocabulary), generator_),
      optimizer_(model_.named_parameters(), {.beta2 = kRecurrentBeta2}) {}

Tensor TrainedRecurrent::forward(std::int64_t number, Mark mark) {
  const Batch& batch = at(number);
  const Memory memory = model_.encode(batch.source, batch.source_lengths);  // [B, S, M]
  mark("encoder");
  const Tensor y = model_.decode(batch.target, memory);  // [B, T, R]
  mark("decoder");
  Tensor loss = model_.output.loss(y, batch.expected).loss;
  mark("output and loss");
  return loss;
}

void TrainedRecurrent::save(const std::filesystem::path& path) {
  const RecurrentTranslatorConfig& config = model_.config();
  save_tensors(with_batches(model_.named_parameters(), batches_), path,
               {{"kind", config.decoder.feeding == Feeding::context ? "bahdanau" : "luong"},
                {"vocabulary", fmt::to_string(config.target_vocabulary)},
                {"embed", fmt::to_string(config.decoder.embed)},
                {"hidden", fmt::to_string(config.decoder.hidden)},
                {"layers", fmt::to_string(config.decoder.layers)},
                {"dropout", fmt::to_string(config.dropout)},
                {"rate", fmt::to_string(kRepeatedRate)},
                {"beta2", fmt::to_string(kRecurrentBeta2)}});
}

}  // namespace heed::bench

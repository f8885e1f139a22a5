#include "benchmarks/models/translator_case.h"

#include "heed/nn/checkpoint_file.h"
#include "heed/ops/linear_cross_entropy.h"

namespace heed::bench {
namespace {

constexpr double kLabelSmoothing = 0.1;
constexpr double kTranslatorBeta2 = 0.98;

TransformerConfig with_vocabulary(TransformerConfig config, std::int64_t size) {
  config.source_vocabulary = config.target_vocabulary = size;
  config.padding = SpecialTokens().padding;
  return config;
}

}  // namespace

TransformerConfig transformer_tiny() {
  TransformerConfig config;
  config.block.embed = 128;
  config.block.heads = 4;
  config.block.hidden = 256;
  config.encoder_layers = config.decoder_layers = 4;
  config.block.dropout = 0.3;
  return config;
}

TrainedTranslator::TrainedTranslator(TransformerConfig config, const CorpusShape& corpus)
    : batches_(multi30k_batches(corpus)),
      generator_(1),
      model_(with_vocabulary(std::move(config), corpus.vocabulary), generator_),
      optimizer_(model_.named_parameters(), {.beta2 = kTranslatorBeta2}) {}

Tensor TrainedTranslator::forward(std::int64_t number, Mark mark) {
  const Batch& batch = at(number);
  const Tensor source = model_.source(batch.source);  // [B, S, E]
  mark("embeddings");
  const Tensor memory =
      model_.encoder({.x = source, .lengths = batch.source_lengths});  // [B, S, E]
  mark("encoder");
  const Tensor target = model_.target(batch.target);  // [B, T, E]
  mark("embeddings");
  const Tensor y = model_.decoder({.x = target,
                                   .causal = true,
                                   .memory = memory,
                                   .memory_lengths = batch.source_lengths});  // [B, T, E]
  mark("decoder");
  Tensor loss = linear_cross_entropy(y, model_.output.weight.data, batch.expected,
                                     {.label_smoothing = kLabelSmoothing})
                    .loss;
  mark("output and loss");
  return loss;
}

void TrainedTranslator::save(const std::filesystem::path& path) {
  const TransformerConfig& config = model_.config();
  save_tensors(with_batches(model_.named_parameters(), batches_), path,
               {{"kind", "translator"},
                {"vocabulary", fmt::to_string(config.target_vocabulary)},
                {"embed", fmt::to_string(config.block.embed)},
                {"heads", fmt::to_string(config.block.heads)},
                {"hidden", fmt::to_string(config.block.hidden_size())},
                {"encoder_layers", fmt::to_string(config.encoder_layers)},
                {"decoder_layers", fmt::to_string(config.decoder_layers)},
                {"dropout", fmt::to_string(config.block.dropout)},
                {"label_smoothing", fmt::to_string(kLabelSmoothing)},
                {"rate", fmt::to_string(kRepeatedRate)},
                {"beta2", fmt::to_string(kTranslatorBeta2)}});
}

}  // namespace heed::bench

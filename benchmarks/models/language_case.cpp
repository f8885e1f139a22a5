#include "benchmarks/models/language_case.h"

#include "heed/nn/checkpoint_file.h"
#include "heed/ops/linear_cross_entropy.h"
#include "heed/tensor/create.h"
#include "heed/training/clip.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kVocabulary = 65, kBatch = 12, kBlock = 64;
constexpr double kBeta2 = 0.99, kDecay = 0.1, kMaxNorm = 1.0;

Tensor random_ids(Generator& generator) {
  Tensor ids = empty({kBatch, kBlock}, DType::i64);
  const RandomStream stream = generator.next();
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    ids.mutable_data<std::int64_t>()[i] = stream.below(static_cast<std::uint64_t>(i), kVocabulary);
  }
  return ids;
}

LanguageModelConfig small_gpt() {
  LanguageModelConfig config{.vocabulary = kVocabulary, .layers = 4};
  config.block.embed = 128;
  config.block.heads = 4;
  config.block.positions = fmt::format("learned max_length={}", kBlock);
  return config;
}

}  // namespace

TrainedLanguageModel::TrainedLanguageModel()
    : generator_(1),
      model_(small_gpt(), generator_),
      optimizer_(model_.named_parameters(),
                 {.beta2 = kBeta2, .weight_decay = kDecay, .decay_matrices_only = true}),
      ids_(random_ids(generator_)),
      expected_(random_ids(generator_)) {}

std::int64_t TrainedLanguageModel::tokens(std::int64_t /*batch*/) const { return ids_.numel(); }

Tensor TrainedLanguageModel::forward(std::int64_t /*batch*/, Mark mark) {
  const Tensor x = model_.tokens(ids_);  // [B, T, E]
  mark("embeddings");
  const Tensor y = model_.decoder({.x = x, .causal = true});  // [B, T, E]
  mark("layers");
  Tensor loss = linear_cross_entropy(y, model_.output.weight.data, expected_).loss;
  mark("output and loss");
  return loss;
}

void TrainedLanguageModel::update() {
  const ClippedGradient gradient = clip(optimizer_.parameters(), kMaxNorm);
  optimizer_.step({.rate = kRepeatedRate, .gradient_scale = gradient.scale});
  optimizer_.zero_grad();
}

void TrainedLanguageModel::save(const std::filesystem::path& path) {
  std::vector<NamedTensor> tensors = model_.named_parameters();
  tensors.push_back({"batch.0.ids", ids_});
  tensors.push_back({"batch.0.expected", expected_});
  const LanguageModelConfig& config = model_.config();
  save_tensors(tensors, path,
               {{"kind", "language_model"},
                {"vocabulary", fmt::to_string(config.vocabulary)},
                {"embed", fmt::to_string(config.block.embed)},
                {"heads", fmt::to_string(config.block.heads)},
                {"hidden", fmt::to_string(config.block.hidden_size())},
                {"layers", fmt::to_string(config.layers)},
                {"block", fmt::to_string(kBlock)},
                {"rate", fmt::to_string(kRepeatedRate)},
                {"beta2", fmt::to_string(kBeta2)},
                {"weight_decay", fmt::to_string(kDecay)},
                {"max_norm", fmt::to_string(kMaxNorm)}});
}

}  // namespace heed::bench

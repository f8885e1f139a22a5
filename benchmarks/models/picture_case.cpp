#include "benchmarks/models/picture_case.h"

#include "heed/nn/checkpoint_file.h"
#include "heed/nn/init.h"
#include "heed/ops/cross_entropy.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kBatch = 128, kClasses = 10;
constexpr double kBeta2 = 0.999, kDecay = 0.05;

Tensor random_pictures(Generator& generator) {
  Tensor pictures = empty({kBatch, 3, 32, 32});
  init::normal(pictures, 1.0, generator);
  return pictures;
}

Tensor random_labels(Generator& generator) {
  Tensor labels = empty({kBatch}, DType::i64);
  const RandomStream stream = generator.next();
  for (std::int64_t i = 0; i < kBatch; ++i) {
    labels.mutable_data<std::int64_t>()[i] = stream.below(static_cast<std::uint64_t>(i), kClasses);
  }
  return labels;
}

}  // namespace

TrainedResNet::TrainedResNet()
    : generator_(1),
      model_({.sizes = {.picture = {3, 32, 32}, .classes = kClasses}}, generator_),
      optimizer_(model_.named_parameters(),
                 {.beta2 = kBeta2, .weight_decay = kDecay, .decay_matrices_only = true}),
      pictures_(random_pictures(generator_)),
      labels_(random_labels(generator_)) {}

std::int64_t TrainedResNet::tokens(std::int64_t /*batch*/) const { return kBatch; }

Tensor TrainedResNet::forward(std::int64_t /*batch*/, Mark mark) {
  const Tensor scores = model_(pictures_);  // [B, C]
  mark("network");
  Tensor loss = cross_entropy(scores, labels_);
  mark("loss");
  return loss;
}

void TrainedResNet::save(const std::filesystem::path& path) {
  std::vector<NamedTensor> tensors = model_.named_parameters();
  tensors.push_back({"batch.0.pictures", pictures_});
  tensors.push_back({"batch.0.labels", labels_});
  save_tensors(tensors, path,
               {{"kind", "resnet"},
                {"rate", fmt::to_string(kRepeatedRate)},
                {"beta2", fmt::to_string(kBeta2)},
                {"weight_decay", fmt::to_string(kDecay)}});
}

}  // namespace heed::bench

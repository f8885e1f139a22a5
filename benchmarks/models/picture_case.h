// A network for pictures in training: ResNet-20 as configs/cifar10-resnet.toml has it, on random
// pictures of CIFAR-10's size.
#pragma once

#include "benchmarks/models/cases.h"
#include "heed/models/resnet.h"
#include "heed/training/optimizer.h"

namespace heed::bench {

class TrainedResNet : public TrainedModel {
 public:
  TrainedResNet();

  std::int64_t batches() const override { return 1; }
  std::int64_t tokens(std::int64_t batch) const override;
  const char* unit() const override { return "pictures"; }
  Tensor forward(std::int64_t batch, Mark mark) override;
  void update() override { repeat_step(optimizer_); }
  void save(const std::filesystem::path& path) override;
  Module& module() override { return model_; }

 private:
  Generator generator_;
  ResNet model_;
  AdamW optimizer_;
  Tensor pictures_, labels_;  // [B, 3, 32, 32], [B]
};

}  // namespace heed::bench

// What both sides of a comparison read: a model's parameters and batches in a temporary file.
#pragma once

#include <filesystem>
#include <string>

#include "benchmarks/models/cases.h"

namespace heed::bench {

/// A file in a temporary folder for the life of a scope.
class PeerFile {
 public:
  explicit PeerFile(TrainedModel& model);
  ~PeerFile();
  PeerFile(const PeerFile&) = delete;
  PeerFile& operator=(const PeerFile&) = delete;

  std::string path() const { return (folder_ / "model.safetensors").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace heed::bench

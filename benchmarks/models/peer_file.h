// The parameters and batches of a model in a temporary file, which both sides of a comparison read.
#pragma once

#include <filesystem>
#include <string>

#include "benchmarks/models/cases.h"

namespace heed::bench {

/// A file in a temporary folder that lives as long as its scope.
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

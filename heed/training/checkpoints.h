// The checkpoints of a training run, folders in a folder:
//
//   model/checkpoint_1000/   model.safetensors config.json optimizer.safetensors progress.json …
//   model/checkpoint_last -> checkpoint_1000
//   model/checkpoint_best -> checkpoint_800
//
// A checkpoint is written under a temporary name, synced and renamed, and only then do the links
// move; one that is dropped is renamed before it is removed. So whenever the process dies, every
// name leads to something whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/base/threads.h"

namespace heed {

/// What a checkpoint has besides the files of its model.
inline constexpr std::string_view kOptimizerFile = "optimizer.safetensors";
inline constexpr std::string_view kProgressFile = "progress.json";

class Checkpoints {
 public:
  /// Makes the folder if it is not there. The newest `keep` are kept, besides those that links lead
  /// to; 0: all. Looking changes nothing: another process may be writing.
  Checkpoints(std::filesystem::path root, std::int64_t keep);

  /// Writes the checkpoint of an update, over what a killed process left half-written, by `fill`,
  /// which is given the folder to write into; checkpoint_last then leads to it, and checkpoint_best
  /// too if it is the best.
  void write(std::int64_t update, bool best,
             FunctionRef<void(const std::filesystem::path& folder)> fill);
  /// The newest one. It may be newer than what checkpoint_last leads to, if the process died
  /// between the two.
  std::optional<std::filesystem::path> last() const;
  /// The updates that have a checkpoint, rising.
  std::vector<std::int64_t> updates() const;
  /// The folder of an update's checkpoint.
  std::filesystem::path folder(std::int64_t update) const;

 private:
  void link(std::string_view name, std::int64_t update) const;
  std::optional<std::filesystem::path> linked(std::string_view name) const;
  void prune() const;

  std::filesystem::path root_;
  std::int64_t keep_;
};

}  // namespace heed

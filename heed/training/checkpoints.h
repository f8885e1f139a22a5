// The checkpoints of a training run, folders in a folder:
//
//   model/checkpoint_1000/   model.safetensors config.json optimizer.safetensors progress.json …
//   model/checkpoint_last -> checkpoint_1000
//   model/checkpoint_best -> checkpoint_800
//
// A checkpoint is written under a temporary name, synced and renamed; then the links are moved. A
// checkpoint is renamed before it is removed. So every name refers to a complete folder, even if
// the process dies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/base/threads.h"
#include "heed/generation/model_folder.h"

namespace heed {

/// The files of a checkpoint besides those of its model.
inline constexpr std::string_view kOptimizerFile = "optimizer.safetensors";
inline constexpr std::string_view kProgressFile = "progress.json";
/// The parameters that are trained, where the model of the checkpoint is their moving average.
inline constexpr std::string_view kParametersFile = "parameters.safetensors";

class Checkpoints {
 public:
  /// Creates the folder if it does not exist. Keeps the newest `keep` checkpoints, and those that
  /// links refer to; 0: all. The constructor deletes nothing: another process may be writing.
  Checkpoints(std::filesystem::path root, std::int64_t keep);

  /// Removes the temporary files and folders that killed processes left, which may be as large as
  /// a checkpoint. The caller holds the lock of the folder.
  void remove_leftovers() const;
  /// Writes the checkpoint of an update by `fill`, which is given the folder to write into, and
  /// replaces a partial one of a killed process. Then checkpoint_last refers to it, and
  /// checkpoint_best too if `best` is set. If it fails, nothing of the checkpoint remains.
  void write(std::int64_t update, bool best,
             FunctionRef<void(const std::filesystem::path& folder)> fill);
  /// The last steps of write(), again: the links, and removing old checkpoints. For a run that
  /// resumes from the newest checkpoint, in case that it died before them.
  void settle(std::int64_t update, bool best);
  /// Makes checkpoint_best refer to the checkpoint of an update.
  void mark_best(std::int64_t update) const { link(kBestCheckpoint, update); }
  /// The newest checkpoint. It may be newer than checkpoint_last if the process died between
  /// writing the two.
  std::optional<std::filesystem::path> last() const;
  /// The updates that have a checkpoint, in ascending order.
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

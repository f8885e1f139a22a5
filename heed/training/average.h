// The mean of checkpoints' parameters: often better than any of them, since the last updates of a
// run circle around a good place (Vaswani et al. 2017 averaged the last five).
#pragma once

#include <filesystem>
#include <span>

namespace heed {

/// Writes a model folder with the mean of the models in `folders`, which must have the same
/// parameters; all else is that of the last of them. The folder `to` must not exist yet, and
/// appears whole or not at all.
void average_models(std::span<const std::filesystem::path> folders,
                    const std::filesystem::path& to);

}  // namespace heed

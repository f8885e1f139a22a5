// Averages the parameters of checkpoints. The mean is often better than each of them, since the
// last updates of a run move around a good point (Vaswani et al. 2017 averaged the last five).
#pragma once

#include <filesystem>
#include <span>

namespace heed {

/// Writes a model folder with the mean of the models in `folders`, which must have the same
/// parameters; all other files are those of the last folder. The folder `to` must not exist yet,
/// and appears only when it is complete.
void average_models(std::span<const std::filesystem::path> folders,
                    const std::filesystem::path& to);

}  // namespace heed

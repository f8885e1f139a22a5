// A model of algorithmic tasks, as folders hold it, and the bits that it writes.
#pragma once

#include <memory>

#include "heed/models/model.h"

namespace heed {

struct FolderFormat;

/// Task::copy.
struct BitMachine {
  std::unique_ptr<BitModel> model;
};

/// The format of its folders (folder_format.h).
extern const FolderFormat kBitMachineFolder;

/// The more probable value of each bit, 0 or 1: [B, T, I] -> [B, T, O].
Tensor written_bits(const BitModel& model, const Tensor& x);

}  // namespace heed

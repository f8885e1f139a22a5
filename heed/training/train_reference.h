// The reference of the training config, generated from the struct that reads it.
#pragma once

#include <string>

namespace heed {

/// Every key of TrainConfig with type, default and meaning, as Markdown: one table for each
/// section.
std::string train_reference();

}  // namespace heed

// A classifier made from a trained encoder: a new head for other labels on the layers of a sentence
// encoder, a model of masked tokens or another classifier.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/generation/text_model.h"

namespace heed {

/// The classifier of a folder if it has all the labels. Otherwise, if the folder holds an imported
/// encoder, a classifier of the same architecture with these labels: parameters of equal names and
/// shapes are the encoder's, the others are new.
TextClassifier load_with_labels(const std::filesystem::path& place,
                                const std::vector<std::string>& labels, Generator& generator);

}  // namespace heed

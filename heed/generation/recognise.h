// A model of pictures with what belongs to it, and what it says of pictures: probabilities of the
// labels.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/models/model.h"
#include "heed/pictures/picture_scale.h"

namespace heed {

struct FolderFormat;

/// Task::recognise.
struct PictureClassifier {
  std::unique_ptr<PictureModel> model;
  std::vector<std::string> labels;  ///< In the order of the model's classes.
  PictureScale scale;               ///< Of the pictures that it was trained on.
};

/// The format of its folders (folder_format.h).
extern const FolderFormat kPictureClassifierFolder;

/// A picture with the size and the channels that the model reads.
Picture fitted(const Picture& picture, const PictureClassifier& classifier);

/// The probabilities of the labels, in the classifier's order, for each picture. Pictures must have
/// the size that the model reads.
std::vector<std::vector<float>> recognise(const PictureClassifier& classifier,
                                          std::span<const Picture> pictures);

}  // namespace heed

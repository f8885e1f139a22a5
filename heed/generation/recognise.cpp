#include "heed/generation/recognise.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/picture_batch.h"
#include "heed/ops/softmax.h"

namespace heed {

Picture fitted(const Picture& picture, const PictureClassifier& classifier) {
  return fitted(picture, classifier.model->picture());
}

std::vector<std::vector<float>> recognise(const PictureClassifier& classifier,
                                          std::span<const Picture> pictures) {
  if (pictures.empty()) return {};
  const NoGrad no_grad;
  const Tensor x = picture_batch("recognise", pictures, classifier.model->picture(),
                                 classifier.scale);  // [B, C, H, W]
  const Tensor p = softmax((*classifier.model)(x));  // [B, labels]
  const std::span<const float> all = p.values<float>();
  const std::size_t labels = classifier.labels.size();
  std::vector<std::vector<float>> results;
  for (std::size_t b = 0; b < pictures.size(); ++b) {
    const std::span<const float> row = all.subspan(b * labels, labels);
    results.emplace_back(row.begin(), row.end());
  }
  return results;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct PictureClassifierKeys {
  std::vector<std::string> labels;
  PictureScale scale;

  void fields(io::Fields& field, bool /*is_imported*/) {
    field("labels", labels, "names of the classes");
    field("scale", scale, "how bytes of a picture become numbers");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    PictureClassifier classifier{as_interface<PictureModel>(std::move(model)), labels, scale};
    const std::int64_t channels = classifier.model->picture().channels;
    HEED_CHECK(classifier.model->classes() == std::ssize(labels) &&
                   channels == std::ssize(scale.mean) && channels == std::ssize(scale.deviation),
               "[model] {}: the model has {} classes and {} channels, and there are {} labels and "
               "scales of {} channels: they do not belong together",
               folder.string(), classifier.model->classes(), channels, labels.size(),
               scale.mean.size());
    return classifier;
  }
};

}  // namespace

constinit const FolderFormat kPictureClassifierFolder =
    folder_format<PictureClassifierKeys>(Task::recognise);

PictureClassifier load_picture_classifier(const std::filesystem::path& place, WeightForm form) {
  return std::get<PictureClassifier>(load_task(place, Task::recognise, form));
}

void save_model(const PictureClassifier& classifier, const std::filesystem::path& folder) {
  save_folder(*classifier.model, PictureClassifierKeys{classifier.labels, classifier.scale}, {},
              folder);
}

}  // namespace heed

#include "heed/training/recognition_job.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/order.h"

namespace heed {
namespace {

RecognitionJobOptions with_scale(RecognitionJobOptions options, const PictureScale& scale) {
  options.stream.scale = scale;
  return options;
}

}  // namespace

RecognitionJob::RecognitionJob(PictureClassifier classifier,
                               std::shared_ptr<const PictureSet> training,
                               std::shared_ptr<const PictureSet> validation,
                               const RecognitionJobOptions& options)
    : StreamJob(settings_of(options.stream), std::move(training),
                with_scale(options, classifier.scale).stream),
      classifier_(std::move(classifier)),
      options_(with_scale(options, classifier_.scale)),
      validation_(std::move(validation)),
      sampled_loss_(*classifier_.model, options.sampled) {}

BatchLoss RecognitionJob::next() {
  const std::optional<PictureBatch> part = stream_.next_part();
  if (!part) return {};
  const PictureBatch& batch = *part;
  std::vector<Sampled> samples;
  std::optional<RecordSamples> record;
  if (sampled_loss_.is_needed()) record.emplace(samples);
  const Tensor scores = (*classifier_.model)(batch.pictures);  // [B, C]
  record.reset();
  BatchLoss loss = label_loss({scores, batch.labels}, options_.label_smoothing);
  sampled_loss_.add_labels(std::move(samples), {}, {scores, batch.labels}, loss);
  return loss;
}

std::vector<Judgement> RecognitionJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  std::vector<std::int32_t> all(static_cast<std::size_t>(validation_->size()));
  std::iota(all.begin(), all.end(), 0);
  double sum = 0.0, right = 0.0;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t count =
        std::min(static_cast<std::size_t>(options_.stream.batch), all.size() - begin);
    const PictureBatch batch =
        make_batch(*validation_, std::span(all).subspan(begin, count), options_.stream.scale);
    const Tensor scores = (*classifier_.model)(batch.pictures);  // [B, C]
    sum += cross_entropy(scores, batch.labels, {.reduction = Reduction::sum}).item();
    const auto said = argmax(scores).to_vector<std::int64_t>();
    const auto labels = batch.labels.to_vector<std::int64_t>();
    for (std::size_t k = 0; k < said.size(); ++k) right += said[k] == labels[k] ? 1.0 : 0.0;
    begin += count;
  }
  const auto pictures = static_cast<double>(validation_->size());
  return {{"loss", sum / pictures}, {"accuracy", 100.0 * right / pictures, true}};
}

void RecognitionJob::save(const std::filesystem::path& folder) const {
  save_model(classifier_, folder);
}

// ---- from a config ------------------------------------------------------------------------------

std::unique_ptr<Job> make_recognition(const JobRequest& request) {
  const TrainConfig& config = request.config;
  const std::optional<std::filesystem::path>& begin = request.begin;
  std::vector<std::string>& notes = request.notes;
  std::optional<PictureClassifier> saved;
  if (begin) saved = load_picture_classifier(*begin);
  PictureReading reading{.pictures = config.pictures, .on_bad = config.on_bad};
  if (saved) reading.names = saved->labels;
  const auto read = [&](const std::vector<std::string>& sets) {
    auto set = std::make_shared<const PictureSet>(read_pictures(sets, reading));
    notes.push_back(
        fmt::format("{}: {} pictures of {} classes, {} x {} pixels{}", sets[0], set->size(),
                    set->names.size(), set->shape.height, set->shape.width,
                    set->skipped > 0 ? fmt::format("; {} files skipped", set->skipped) : ""));
    return set;
  };
  const std::shared_ptr<const PictureSet> training = read(config.train_sets);
  reading.names = training->names;
  std::shared_ptr<const PictureSet> validation;
  if (!config.valid_sets.empty()) validation = read(config.valid_sets);
  const auto fresh = [&]() -> PictureClassifier {
    const auto [C, H, W] = training->shape;
    return {new_model<PictureModel>(config,
                                    {.classes = std::ssize(training->names), .picture = {C, H, W}}),
            training->names, scale_of(*training)};
  };
  PictureClassifier classifier = saved ? std::move(*saved) : fresh();
  const std::int64_t batch =
      config.batch_sentences > 0 ? config.batch_sentences : PictureStreamOptions{}.batch;
  return std::make_unique<RecognitionJob>(
      std::move(classifier), training, validation,
      RecognitionJobOptions{.label_smoothing = config.smoothing(),
                            .stream = {.augmentation = config.augmentation,
                                       .batch = batch,
                                       .seed = config.trainer.seed},
                            .sampled = config.reinforce});
}

}  // namespace heed

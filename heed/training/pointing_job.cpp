#include "heed/training/pointing_job.h"

#include <algorithm>
#include <optional>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/cross_entropy.h"

namespace heed {
namespace {

// The sum over all positions. Scores are log-probabilities, which a softmax leaves as they are.
Tensor position_loss(const PointingModel& model, const ElementBatch& batch) {
  const Tensor y =
      model.log_probs({batch.elements, batch.lengths}, batch.pointed);  // [B, P, 1 + T]
  return cross_entropy(y, batch.expected,
                       {.ignore_index = kNoPosition, .reduction = Reduction::sum});
}

}  // namespace

PointingJob::PointingJob(ElementPointer pointer, std::shared_ptr<const ElementCorpus> training,
                         std::shared_ptr<const ElementCorpus> validation,
                         const BatchingOptions& options)
    : StreamJob(settings_of(options), std::move(training), options),
      pointer_(std::move(pointer)),
      validation_(std::move(validation)),
      options_(options) {}

BatchLoss PointingJob::next() {
  const std::optional<ElementBatch> part = stream_.next_part();
  if (!part) return {};
  const ElementBatch& batch = *part;
  BatchLoss loss{.counted = batch.position_count,
                 .source_tokens = batch.element_count,
                 .target_tokens = batch.position_count};
  loss.sum = position_loss(*pointer_.model, batch);
  loss.negative_log_likelihood = loss.sum.item();
  return loss;
}

std::vector<Judgement> PointingJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  const BatchPlan plan = plan_epoch(lengths_of(*validation_), in_order(options_), 0);
  double sum = 0.0, right = 0.0;
  std::int64_t positions = 0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const std::span<const std::int32_t> sets = plan.rows(i);
    const ElementBatch batch = make_batch(*validation_, sets);
    sum += position_loss(*pointer_.model, batch).item();
    positions += batch.position_count;
    const auto found = point(*pointer_.model, {batch.elements, batch.lengths});
    for (std::size_t k = 0; k < sets.size(); ++k) {
      right += std::ranges::equal(found[k].positions, validation_->pointed[sets[k]]) ? 1.0 : 0.0;
    }
  }
  return {{"loss", sum / static_cast<double>(positions)},
          {"accuracy", 100.0 * right / static_cast<double>(validation_->size()), true}};
}

void PointingJob::save(const std::filesystem::path& folder) const { save_model(pointer_, folder); }

// ---- from a config ------------------------------------------------------------------------------

std::unique_ptr<Job> make_pointing(const JobRequest& request) {
  const TrainConfig& config = request.config;
  ElementPointer pointer = request.begin ? load_element_pointer(*request.begin)
                                         : ElementPointer{new_model<PointingModel>(config, {})};
  const ElementReading reading{.features = pointer.model->features(),
                               .each_once = pointer.model->points_once(),
                               .on_bad = config.on_bad};
  const auto read = [&](const std::string& path) {
    auto corpus = std::make_shared<const ElementCorpus>(read_elements(path, reading));
    request.notes.push_back(fmt::format(
        "{}: {} sets of {} elements{}", path, corpus->size(), corpus->starts.back(),
        corpus->bad.total() > 0 ? "; skipped: " + corpus->bad.describe() : std::string()));
    HEED_CHECK(corpus->size() > 0,
               "[train] {}: there is no set in it; lines must be the numbers of all elements, the "
               "word output, and positions from 1",
               path);
    return corpus;
  };
  const std::shared_ptr<const ElementCorpus> training = read(config.train_sets[0]);
  std::shared_ptr<const ElementCorpus> validation;
  if (!config.valid_sets.empty()) validation = read(config.valid_sets[0]);
  return std::make_unique<PointingJob>(std::move(pointer), training, validation,
                                       batching_of(config));
}

}  // namespace heed

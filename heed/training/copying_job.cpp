#include "heed/training/copying_job.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"

namespace heed {
namespace {

// The sum of -log p of all bits to write.
Tensor bit_loss(const BitModel& model, const BitBatch& batch) {
  const Tensor z = model(batch.input);  // [B, T, O]
  return sum((softplus(z) - z * batch.output) * batch.counts);
}

}  // namespace

std::vector<std::int64_t> wrong_bits(const Tensor& written, const BitBatch& batch) {
  const Tensor wrong = abs(written - batch.output) * batch.counts;  // [B, T, O]
  const std::vector<float> sums = sum(wrong, {1, 2}).to_vector<float>();
  return {sums.begin(), sums.end()};
}

CopyingJob::CopyingJob(BitMachine machine, std::shared_ptr<const BitCorpus> training,
                       std::shared_ptr<const BitCorpus> validation, const BatchingOptions& options)
    : StreamJob(settings_of(options), std::move(training), options),
      machine_(std::move(machine)),
      validation_(std::move(validation)),
      options_(options) {}

BatchLoss CopyingJob::next() {
  const std::optional<BitBatch> part = stream_.next_part();
  if (!part) return {};
  const BitBatch& batch = *part;
  BatchLoss loss{.counted = batch.bits,
                 .source_tokens = batch.steps,
                 .target_tokens = batch.bits / machine_.model->outputs()};
  loss.sum = bit_loss(*machine_.model, batch);
  loss.negative_log_likelihood = loss.sum.item();
  return loss;
}

std::vector<Judgement> CopyingJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  const BatchPlan plan = plan_epoch(lengths_of(*validation_), in_order(options_), 0);
  double loss = 0.0, right = 0.0, errors = 0.0;
  std::int64_t bits = 0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const BitBatch batch = make_batch(*validation_, plan.rows(i));
    loss += bit_loss(*machine_.model, batch).item();
    bits += batch.bits;
    for (const std::int64_t wrong : wrong_bits(written_bits(*machine_.model, batch.input), batch)) {
      right += wrong == 0 ? 1.0 : 0.0;
      errors += static_cast<double>(wrong);
    }
  }
  const auto sequences = static_cast<double>(validation_->size());
  return {{"loss", loss / static_cast<double>(bits)},
          {"accuracy", 100.0 * right / sequences, true},
          {"errors", errors / sequences}};
}

void CopyingJob::save(const std::filesystem::path& folder) const { save_model(machine_, folder); }

// ---- from a config ------------------------------------------------------------------------------

std::unique_ptr<Job> make_copying(const JobRequest& request) {
  const TrainConfig& config = request.config;
  BitMachine machine;
  if (request.begin) machine = load_bit_machine(*request.begin);
  BitWidths widths;
  if (machine.model) widths = {machine.model->inputs(), machine.model->outputs()};
  const auto read = [&](const std::string& path) {
    auto corpus = std::make_shared<const BitCorpus>(read_bits(path, widths, config.on_bad));
    request.notes.push_back(fmt::format(
        "{}: {} sequences, {} bits to read, {} to write{}", path, corpus->size(),
        corpus->widths.input, corpus->widths.output,
        corpus->bad.total() > 0 ? "; skipped: " + corpus->bad.describe() : std::string()));
    HEED_CHECK(corpus->size() > 0,
               "[train] {}: there is no sequence in it; lines must be vectors of 0 and 1 to read, "
               "the word output, and vectors to write",
               path);
    return corpus;
  };
  const std::shared_ptr<const BitCorpus> training = read(config.train_sets[0]);
  widths = training->widths;
  std::shared_ptr<const BitCorpus> validation;
  if (!config.valid_sets.empty()) validation = read(config.valid_sets[0]);
  if (!machine.model) {
    machine.model = new_model<BitModel>(config, {.inputs = widths.input, .outputs = widths.output});
  }
  return std::make_unique<CopyingJob>(std::move(machine), training, validation,
                                      batching_of(config));
}

}  // namespace heed

#include "heed/training/translation_job.h"

#include <algorithm>
#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/evaluation/bleu.h"
#include "heed/evaluation/chrf.h"
#include "heed/generation/model_folder.h"

namespace heed {

TranslationJob::TranslationJob(Translator translator, std::shared_ptr<const ParallelCorpus> corpus,
                               TranslationValidation validation,
                               const TranslationJobOptions& options)
    : translator_(std::move(translator)),
      stream_(std::move(corpus), options.batching),
      validation_(std::move(validation)),
      options_(options) {}

BatchLoss TranslationJob::loss_of(const Batch& batch, double smoothing) const {
  const TranslationModel& model = translator_.model();
  const Memory memory = model.encode(batch.source, batch.source_lengths);  // [B, S, E]
  const Tensor y = model.decode(batch.target, memory);                     // [B, T, E]
  const LinearCrossEntropy loss = model.output_layer().loss(
      y, batch.expected, {.label_smoothing = smoothing, .reduction = Reduction::sum});
  return {.sum = loss.loss,
          .negative_log_likelihood = loss.negative_log_likelihood,
          .counted = loss.counted,
          .source_tokens = batch.source_tokens,
          .target_tokens = batch.target_tokens};
}

BatchLoss TranslationJob::next() { return loss_of(stream_.next(), options_.label_smoothing); }

double TranslationJob::epoch_share() const {
  return static_cast<double>(stream_.position().batch) /
         static_cast<double>(std::max<std::int64_t>(1, stream_.epoch_batches()));
}

double TranslationJob::mean_loss() const {
  const NoGrad no_grad;
  const std::vector<PairLength> lengths = validation_.corpus->lengths();
  BatchingOptions batching = options_.batching;
  batching.shuffle = false;
  const BatchPlan plan = plan_epoch(lengths, batching, 0);
  double sum = 0.0;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const BatchLoss loss = loss_of(make_batch(*validation_.corpus, plan.rows(i)), 0.0);
    sum += loss.negative_log_likelihood;
    counted += loss.counted;
  }
  return sum / static_cast<double>(std::max<std::int64_t>(1, counted));
}

std::vector<Judgement> TranslationJob::validate() {
  std::vector<Judgement> judgements;
  if (!validation_.corpus || validation_.corpus->size() == 0) return judgements;
  const auto wants = [&](std::string_view name) {
    return std::ranges::find(options_.metrics, name) != options_.metrics.end();
  };
  const double loss = mean_loss();
  if (wants("loss")) judgements.push_back({"loss", loss});
  if (wants("perplexity")) judgements.push_back({"perplexity", std::exp(loss)});
  if (!wants("bleu") && !wants("chrf")) return judgements;
  std::vector<std::string> hypotheses;
  for (auto& found : translator_.translate(validation_.sources, options_.translate)) {
    hypotheses.push_back(found.empty() ? std::string() : std::move(found[0].text));
  }
  const auto judge = [&](const char* name, const evaluation::Metric& metric) {
    const double value = evaluation::corpus_score(metric, hypotheses, validation_.references).value;
    judgements.push_back({name, value, true});
  };
  if (wants("bleu")) judge("bleu", evaluation::Bleu({.tokenizer = options_.tokenizer}));
  if (wants("chrf")) judge("chrf", evaluation::Chrf());
  return judgements;
}

void TranslationJob::save(const std::filesystem::path& folder) const {
  save_model(translator_, folder);
}

}  // namespace heed

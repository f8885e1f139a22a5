// Training of a sentence encoder by contrast: of the second texts of a batch, the one that belongs
// to a first text shall have the most similar vector (Henderson et al. 2017;
// MultipleNegativesRanking in sentence-transformers).
//
//   loss_i = cross_entropy(scale * cos(a_i, b_j) over j, i)
#pragma once

#include <memory>

#include "heed/data/text_pairs.h"
#include "heed/generation/text_model.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

struct EmbeddingJobOptions {
  double scale = 20.0;  // of the cosines
  BatchingOptions batching = {};
};

class EmbeddingJob : public StreamJob<TextPairStream> {
 public:
  /// The validation corpus may be null.
  EmbeddingJob(TextEmbedder embedder, std::shared_ptr<const ParallelCorpus> training,
               std::shared_ptr<const ParallelCorpus> validation,
               const EmbeddingJobOptions& options);

  Module& model() override { return *embedder_.model; }
  BatchLoss next() override;
  void take_parts(const BatchParts& parts) override;
  /// Loss, and accuracy: the share, in percent, of texts whose own second text is the most similar
  /// of its batch.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  Tensor scores(const TextPairBatch& batch) const;

  TextEmbedder embedder_;
  std::shared_ptr<const ParallelCorpus> validation_;
  EmbeddingJobOptions options_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_embedding(const JobRequest& request);

inline constexpr TrainingTask kEmbedding{
    .task = Task::embed, .what = "", .make = make_embedding, .max_sets = 2, .has_reward = false};

}  // namespace heed

// Training of a model of algorithmic tasks: batches of sequences of bits, binary cross entropy of
// each bit to write, and validation by loss, by sequences without a wrong bit, and by wrong bits.
#pragma once

#include <memory>

#include "heed/data/bit_sequences.h"
#include "heed/generation/bit_machine.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

class CopyingJob : public StreamJob<BitStream> {
 public:
  /// The validation corpus may be null.
  CopyingJob(BitMachine machine, std::shared_ptr<const BitCorpus> training,
             std::shared_ptr<const BitCorpus> validation, const BatchingOptions& options);

  Module& model() override { return *machine_.model; }
  BatchLoss next() override;
  /// Loss of a bit, accuracy (sequences without a wrong bit, in percent), and errors (wrong bits of
  /// a sequence).
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  BitMachine machine_;
  std::shared_ptr<const BitCorpus> validation_;
  BatchingOptions options_;
};

/// The wrong bits of each sequence of a batch; `written` [B, T, O] are 0 and 1.
std::vector<std::int64_t> wrong_bits(const Tensor& written, const BitBatch& batch);

/// Makes the job of a config.
std::unique_ptr<Job> make_copying(const JobRequest& request);

inline constexpr std::string_view kBitJudgements[] = {"loss", "accuracy", "errors"};

inline constexpr TrainingTask kCopying{.task = Task::copy,
                                       .what = "algorithmic tasks",
                                       .make = make_copying,
                                       .judgements = kBitJudgements};

}  // namespace heed

#include "heed/generation/sequence_model.h"

#include "heed/autograd/tape.h"
#include "heed/tensor/padding.h"

namespace heed {
namespace {

class OfTranslation : public SequenceModel {
 public:
  OfTranslation(const TranslationModel& model, const TranslationSequences& options)
      : model_(model), options_(options) {}

  StartedSequences start(std::span<const Source> sources) const override {
    const NoGrad no_grad;
    const PaddedRows batch = pad_rows(sources, options_.padding);
    const Memory memory = model_.encode(batch.tokens, batch.lengths);
    StartedSequences started{.decoding = model_.start(memory, options_.stepping, options_.cache)};
    if (options_.observed != ObservedWeights::all) return started;
    // Weights come from another pass over each source alone: a pass over a batch that gives weights
    // is computed with padding, and the results of a sentence would depend on the longest one.
    for (const Source& source : sources) {
      const PaddedRows alone = pad_rows({&source, 1}, options_.padding);
      model_.encode(alone.tokens, alone.lengths, &started.encoder.emplace_back());
    }
    return started;
  }
  bool starts_together() const override { return true; }
  const OutputLayer& output_layer() const override { return model_.output_layer(); }
  std::int64_t cache_bytes(std::int64_t source, std::int64_t positions) const override {
    return model_.cache_bytes(source, positions, options_.cache);
  }
  std::int64_t max_source() const override { return model_.max_source(); }
  std::int64_t max_positions() const override { return model_.max_target(); }
  ObservedWeights observed() const override { return options_.observed; }

 private:
  const TranslationModel& model_;
  TranslationSequences options_;
};

class OfLanguage : public SequenceModel {
 public:
  OfLanguage(const CausalModel& model, CacheForm cache) : model_(model), cache_(cache) {}

  StartedSequences start(std::span<const Source> sources) const override {
    return {.decoding = model_.start(std::ssize(sources), cache_)};
  }
  bool starts_together() const override { return false; }  // prompts have different lengths
  const OutputLayer& output_layer() const override { return model_.output_layer(); }
  std::int64_t cache_bytes(std::int64_t /*source*/, std::int64_t positions) const override {
    return model_.cache_bytes(positions, cache_);
  }
  std::int64_t max_source() const override { return 0; }
  std::int64_t max_positions() const override { return model_.max_length(); }

 private:
  const CausalModel& model_;
  CacheForm cache_;
};

}  // namespace

std::unique_ptr<SequenceModel> sequences_of(const TranslationModel& model,
                                            const TranslationSequences& options) {
  return std::make_unique<OfTranslation>(model, options);
}

std::unique_ptr<SequenceModel> sequences_of(const CausalModel& model, CacheForm cache) {
  return std::make_unique<OfLanguage>(model, cache);
}

}  // namespace heed

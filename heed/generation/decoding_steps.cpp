#include "heed/generation/decoding_steps.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/copying.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor ids_of(std::span<const std::int32_t> tokens, std::int64_t rows) {
  const std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
  const std::int64_t length = rows > 0 ? std::ssize(wide) / rows : 1;
  return from_values(std::span<const std::int64_t>(wide), {rows, length});  // [rows, T]
}

void name_copied(const CopiedWords& copied, Hypothesis& hypothesis) {
  for (std::size_t i = 0; i < hypothesis.tokens.size(); ++i) {
    std::int32_t& token = hypothesis.tokens[i];
    if (token < copied.vocabulary) continue;
    const auto word = static_cast<std::size_t>(token - copied.vocabulary);
    hypothesis.copied.push_back({static_cast<std::int64_t>(i), copied.words[word]});
    token = copied.unknown;
  }
}

DecodingSteps::DecodingSteps(const OutputLayer& output, ObservedWeights observed)
    : output_(output), observed_(observed) {}

DecodingSteps::DecodingSteps(const OutputLayer& output, std::int64_t rows,
                             std::unique_ptr<Decoding> decoding, ObservedWeights observed)
    : DecodingSteps(output, observed) {
  join(std::move(decoding), rows);
}

void DecodingSteps::join(std::unique_ptr<Decoding> decoding, std::int64_t rows,
                         const Sources& sources) {
  if (rows_ == 0) {
    decoding_ = std::move(decoding);
    if (is_observed()) decoding_->observe(now_, observed_);
  } else {
    decoding_->join(*decoding);
  }
  rows_ += rows;
  traces_.resize(static_cast<std::size_t>(rows_));
  sources_.insert(sources_.end(), sources.begin(), sources.end());
  sources_.resize(static_cast<std::size_t>(rows_));
}

void DecodingSteps::clear() {
  rows_ = 0;
  decoding_.reset();
  traces_.clear();
  sources_.clear();
}

TokenScores DecodingSteps::step(std::span<const std::int32_t> last) {
  const NoGrad no_grad;
  HEED_ASSERT(std::ssize(last) == rows_);
  std::vector<std::int32_t> tokens(last.begin(), last.end());
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    if (sources_[row]) tokens[row] = sources_[row]->known(tokens[row]);
  }
  const Tensor y = decoding_->step(ids_of(tokens, rows_));  // [rows, 1, E]
  if (is_observed()) observe_step();
  const CopySteps* const copied = copied_by(*decoding_);
  if (copied == nullptr) return {squeeze(y, 1), output_};
  for (const auto& source : sources_) {
    HEED_CHECK(source != nullptr,
               "[search] the model copies words of its sources: give the request of each source "
               "its words (Translator::copied)");
  }
  return {squeeze(y, 1), output_,
          CopyScores{.gate = contiguous_copy(squeeze(copied->gate, 1)),
                     .weights = squeeze(copied->weights, 1),
                     .sources = sources_}};
}

void DecodingSteps::observe_step() {
  std::vector<LayerWeights> layers = now_;
  if (observed_ == ObservedWeights::cross) {
    for (LayerWeights& layer : layers) {
      if (layer.cross.defined()) layer.cross = mean(layer.cross, {1}, {.keep_axes = true});
    }
  }
  const auto shared = std::make_shared<const std::vector<LayerWeights>>(std::move(layers));
  for (std::int64_t row = 0; row < rows_; ++row) {
    auto& trace = traces_[static_cast<std::size_t>(row)];
    trace = std::make_shared<const StepTrace>(StepTrace{std::move(trace), shared, row});
  }
}

void DecodingSteps::reorder(std::span<const std::int64_t> from) {
  rows_ = std::ssize(from);
  decoding_->reorder(from);
  std::vector<std::shared_ptr<const StepTrace>> traces;
  Sources sources;
  for (const std::int64_t row : from) {
    traces.push_back(traces_[static_cast<std::size_t>(row)]);
    sources.push_back(sources_[static_cast<std::size_t>(row)]);
  }
  traces_ = std::move(traces);
  sources_ = std::move(sources);
}

std::shared_ptr<const Candidates> DecodingSteps::candidates(
    std::vector<std::int32_t> tokens) const {
  OutputLayer output = output_.select(tokens);
  return std::make_shared<const Candidates>(Candidates{std::move(tokens), std::move(output)});
}

std::shared_ptr<const StepTrace> DecodingSteps::trace(std::int64_t row) const {
  return traces_[static_cast<std::size_t>(row)];
}

}  // namespace heed

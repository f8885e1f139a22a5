#include "heed/generation/examine.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/decoding_steps.h"
#include "heed/models/copying.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

std::vector<std::int32_t> after_start(const Translator& translator, const WrittenFor& written) {
  std::vector<std::int32_t> read = {translator.frame().start};
  for (const std::int32_t token : written.tokens) {
    read.push_back(written.copied != nullptr ? written.copied->known(token) : token);
  }
  return read;
}

// Log-probabilities [1, T, V + words] of a model that copies.
Tensor copying_scores(const TranslationModel& model, const Tensor& read, const Memory& memory,
                      const CopiedWords& copied) {
  CopySteps steps;
  const Tensor y = copying_of(model)->decode_copying(read, memory, steps);  // [1, T, E]
  const auto T = static_cast<std::size_t>(y.size(1));
  const auto shared = std::make_shared<const CopiedWords>(copied);
  const CopyScores copies{
      .gate = squeeze(steps.gate, 0), .weights = squeeze(steps.weights, 0), .sources = {T, shared}};
  return unsqueeze(TokenScores(squeeze(y, 0), model.output_layer(), copies).all(), 0);
}

// Scores [1, T, V] as searches see them: tokens that are never chosen may have probability 0.
Tensor searched(const TranslationFormat& format, const Tensor& scores) {
  if (!format.renormalised) return scores;
  Tensor changed = contiguous_copy(scores);
  const std::int64_t V = scores.size(-1);
  std::vector<std::int32_t> banned;
  for (const Rule& rule : plan_for(format, {.allow_unknown = true}).rules) rule({}, banned);
  const std::span<float> all(changed.mutable_data<float>(),
                             static_cast<std::size_t>(changed.numel()));
  for (std::int64_t row = 0; row < std::ssize(all); row += V) {
    for (const std::int32_t token : banned) {
      all[static_cast<std::size_t>(row + token)] = -std::numeric_limits<float>::infinity();
    }
  }
  return changed;
}

// The number of tokens that every result begins with, and these do.
std::size_t count_forced(const Translator& translator, std::span<const std::int32_t> tokens) {
  const std::vector<std::int32_t>& forced = translator.frame().forced;
  const bool begins =
      tokens.size() >= forced.size() && std::ranges::equal(forced, tokens.first(forced.size()));
  return begins ? forced.size() : 0;
}

// Attention to the source, averaged over heads.
struct Rows {
  std::int64_t T, S;
  std::vector<double> weights;  // [T, S]

  // The rows of the next step; the last row has none and stays.
  Rows a_step_later() const {
    Rows later = *this;
    if (T < 2) return later;
    std::copy(weights.begin() + S, weights.end(), later.weights.begin());
    return later;
  }
  void add(const Rows& other) {
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += other.weights[i];
  }
  double product(const Rows& other) const {
    return std::inner_product(weights.begin(), weights.end(), other.weights.begin(), 0.0);
  }
  void divide_columns() {
    for (std::int64_t s = 0; s < S; ++s) {
      double sum = 0.0;
      for (std::int64_t t = 0; t < T; ++t) sum += at(t, s);
      for (std::int64_t t = 0; t < T && sum > 0.0; ++t) at(t, s) /= sum;
    }
  }
  void divide_rows() {
    for (std::int64_t t = 0; t < T; ++t) {
      double sum = 0.0;
      for (std::int64_t s = 0; s < S; ++s) sum += at(t, s);
      for (std::int64_t s = 0; s < S && sum > 0.0; ++s) at(t, s) /= sum;
    }
  }
  double& at(std::int64_t t, std::int64_t s) {
    return weights[static_cast<std::size_t>(t * S + s)];
  }
};

Rows rows_of(const Tensor& means) {
  const std::vector<float> values = means.to_vector<float>();
  return {means.size(0), means.size(1), {values.begin(), values.end()}};
}

// The layers put in step, as the header defines it.
Tensor all_layers(const std::vector<Tensor>& means) {
  const std::size_t half = means.size() / 2;
  Rows sum = rows_of(means[half]);
  for (std::size_t i = half + 1; i < means.size(); ++i) sum.add(rows_of(means[i]));
  Rows upper = sum;
  upper.divide_columns();
  for (std::size_t i = 0; i < half; ++i) {
    const Rows now = rows_of(means[i]), later = now.a_step_later();
    if (later.product(upper) > now.product(upper)) sum.add(later);
  }
  sum.divide_columns();
  sum.divide_rows();
  const std::vector<float> values(sum.weights.begin(), sum.weights.end());
  return from_values(std::span<const float>(values), {sum.T, sum.S});
}

}  // namespace

Hypothesis examine_score(const Translator& translator, const WrittenFor& written,
                         const SearchOptions& options) {
  const NoGrad no_grad;
  const TranslationModel& model = translator.model();
  const Memory memory = model.encode(ids_of(written.source, 1));    // [1, S, E]
  const Tensor read = ids_of(after_start(translator, written), 1);  // [1, T]
  std::vector<std::int32_t> expected(written.tokens.begin(), written.tokens.end());
  expected.push_back(translator.format().ends.front());
  const bool copies = copying_of(model) != nullptr;
  HEED_CHECK(!copies || written.copied != nullptr,
             "[score] the model copies words of its sources: give those of this one "
             "(Translator::copied)");
  const Tensor scores =
      copies ? copying_scores(model, read, memory, *written.copied)
             : searched(translator.format(),
                        model.output_layer()(model.decode(read, memory)));  // [1, T, V]
  const Tensor surprise =
      cross_entropy(scores, ids_of(expected, 1), {.reduction = Reduction::none});  // [1, T]
  const std::size_t forced = count_forced(translator, written.tokens);
  Hypothesis result;
  result.tokens.assign(written.tokens.begin(), written.tokens.end());
  if (written.copied != nullptr) name_copied(*written.copied, result);
  for (const float s : surprise.values<float>()) {
    const bool is_forced = result.token_log_probabilities.size() < forced;
    result.token_log_probabilities.push_back(is_forced ? 0.0f : -s);
    result.log_probability += result.token_log_probabilities.back();
  }
  result.score = result.log_probability / length_divisor(options, std::ssize(expected));
  return result;
}

ModelWeights examine_weights(const Translator& translator, const WrittenFor& written) {
  const NoGrad no_grad;
  const TranslationModel& model = translator.model();
  ModelWeights weights;
  const Memory memory = model.encode(ids_of(written.source, 1), {}, &weights.encoder);
  model.decode(ids_of(after_start(translator, written), 1), memory, &weights.decoder);
  return weights;
}

Tensor source_attention(const ModelWeights& weights, std::optional<std::int64_t> layer) {
  const NoGrad no_grad;
  const auto layers = std::ssize(weights.decoder);
  HEED_CHECK(layers > 0, "[alignment] the model has no attention to the source");
  HEED_CHECK(!layer || (*layer >= 1 && *layer <= layers),
             "[alignment] layer {}: the decoder has layers 1 to {}", layer.value_or(0), layers);
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < layers; ++i) {
    const Tensor& cross = weights.decoder[static_cast<std::size_t>(i)].cross;  // [1, H, T, S]
    HEED_CHECK(cross.defined(), "[alignment] the model's attention to the source has no weights");
    const Tensor rows = mean(squeeze(cross, 0), {0});  // [T, S]
    if (layer == i + 1) return rows;
    all.push_back(rows);
  }
  return all_layers(all);  // [T, S]
}

AlignmentEdges edges_of(const Translator& translator, const Hypothesis& hypothesis) {
  const TranslationFrame& frame = translator.frame();
  const std::size_t tokens = hypothesis.tokens.size();
  const bool has_end = hypothesis.token_log_probabilities.size() != tokens || tokens == 0;
  return {.source_before = std::ssize(frame.before),
          .source_after = std::ssize(frame.after),
          .target_before = static_cast<std::int64_t>(count_forced(translator, hypothesis.tokens)),
          .target_after = has_end ? 1 : 0};
}

Tensor without_ends(const Tensor& attention, const AlignmentEdges& edges) {
  const Tensor rows =
      slice(attention, 0, edges.target_before, attention.size(0) - edges.target_after);
  return slice(rows, 1, edges.source_before, attention.size(1) - edges.source_after);
}

}  // namespace heed

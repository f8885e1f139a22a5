#include "heed/generation/examine.h"

#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/decoding_steps.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

std::vector<std::int32_t> after_begin(const Translator& translator, const WrittenFor& written) {
  std::vector<std::int32_t> read = {translator.target()->special().begin};
  read.insert(read.end(), written.tokens.begin(), written.tokens.end());
  return read;
}

}  // namespace

Hypothesis examine_score(const Translator& translator, const WrittenFor& written,
                         const SearchOptions& options) {
  const NoGrad no_grad;
  const TranslationModel& model = translator.model();
  const Memory memory = model.encode(ids_of(written.source, 1));                       // [1, S, E]
  const Tensor y = model.decode(ids_of(after_begin(translator, written), 1), memory);  // [1, T, E]
  std::vector<std::int32_t> expected(written.tokens.begin(), written.tokens.end());
  expected.push_back(translator.target()->special().end);
  const Tensor surprise = cross_entropy(model.output_layer()(y), ids_of(expected, 1),
                                        {.reduction = Reduction::none});  // [1, T]
  Hypothesis result;
  result.tokens.assign(written.tokens.begin(), written.tokens.end());
  for (const float s : surprise.values<float>()) {
    result.token_log_probabilities.push_back(-s);
    result.log_probability -= s;
  }
  result.score = result.log_probability / length_divisor(options, std::ssize(expected));
  return result;
}

ModelWeights examine_weights(const Translator& translator, const WrittenFor& written) {
  const NoGrad no_grad;
  const TranslationModel& model = translator.model();
  ModelWeights weights;
  const Memory memory = model.encode(ids_of(written.source, 1), {}, &weights.encoder);
  model.decode(ids_of(after_begin(translator, written), 1), memory, &weights.decoder);
  return weights;
}

Tensor source_attention(const ModelWeights& weights, std::optional<std::int64_t> layer) {
  const NoGrad no_grad;
  const auto layers = std::ssize(weights.decoder);
  HEED_CHECK(!layer || (*layer >= 1 && *layer <= layers),
             "[alignment] layer {}: the decoder has layers 1 to {}", layer.value_or(0), layers);
  std::vector<Tensor> chosen;
  for (std::int64_t i = 1; i <= layers; ++i) {
    const Tensor& cross = weights.decoder[static_cast<std::size_t>(i - 1)].cross;  // [1, H, T, S]
    HEED_CHECK(cross.defined(), "[alignment] the model's attention to the source has no weights");
    if (!layer || *layer == i) chosen.push_back(mean(squeeze(cross, 0), {0}));  // [T, S]
  }
  return mean(stack(chosen, 0), {0});  // [T, S]
}

Tensor without_ends(const Tensor& attention) {
  return slice(slice(attention, 0, 0, attention.size(0) - 1), 1, 0, attention.size(1) - 1);
}

}  // namespace heed

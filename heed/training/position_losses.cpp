#include "heed/training/position_losses.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/order.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

constexpr std::int64_t kTokensAtOnce = 16384;
constexpr std::int64_t kScoresAtOnce = 1024;

// Whether the expected token has the greatest score, at every position.
std::vector<bool> find_right(const OutputLayer& output, const Tensor& states,
                             const Tensor& expected) {
  const std::int64_t rows = expected.numel();
  const Tensor all = reshape(states, {rows, states.size(-1)});
  const std::vector<std::int64_t> targets = expected.to_vector<std::int64_t>();
  std::vector<bool> right;
  for (std::int64_t begin = 0; begin < rows; begin += kScoresAtOnce) {
    const Tensor part = slice(all, 0, begin, std::min(rows, begin + kScoresAtOnce));
    for (const std::int64_t best : argmax(output(part), 1).to_vector<std::int64_t>()) {
      right.push_back(best == targets[right.size()]);
    }
  }
  return right;
}

}  // namespace

std::vector<PositionLoss> position_losses(const CausalModel& model, const TokenStream& text,
                                          const PositionLossOptions& options) {
  const std::int64_t T = options.length;
  HEED_CHECK(T >= 1 && options.parts >= 1 && options.parts <= T,
             "[positions] {} parts of {} positions: give from 1 to {}", options.parts, T, T);
  HEED_CHECK(T <= model.max_length(), "[positions] blocks of {} tokens: the model reads {}", T,
             model.max_length());
  std::int64_t blocks = (text.size() - 1) / T;
  if (options.blocks > 0) blocks = std::min(blocks, options.blocks);
  HEED_CHECK(blocks > 0, "[positions] the text has {} tokens: a block needs {}", text.size(),
             T + 1);
  const NoGrad no_grad;
  std::vector<PositionLoss> found(static_cast<std::size_t>(options.parts));
  for (std::int64_t p = 0; p < options.parts; ++p) {
    found[static_cast<std::size_t>(p)].first = p * T / options.parts;
    found[static_cast<std::size_t>(p)].last = (p + 1) * T / options.parts;
  }
  const std::int64_t at_once = std::max<std::int64_t>(1, kTokensAtOnce / T);
  for (std::int64_t first = 0; first < blocks; first += at_once) {
    const TokenBlocks batch =
        text.blocks({.rows = std::min(at_once, blocks - first), .length = T}, first);
    const Tensor states = model(batch.tokens);  // [B, T, E]
    const std::vector<float> logs =
        model.output_layer().loss(states, batch.expected).log_likelihoods.to_vector<float>();
    const std::vector<bool> right = find_right(model.output_layer(), states, batch.expected);
    for (std::size_t n = 0; n < logs.size(); ++n) {
      const std::int64_t position = static_cast<std::int64_t>(n) % T;
      PositionLoss& part = *std::ranges::find_if(
          found, [&](const PositionLoss& range) { return position < range.last; });
      part.loss -= static_cast<double>(logs[n]);
      part.accuracy += right[n] ? 1.0 : 0.0;
      ++part.count;
    }
  }
  for (PositionLoss& part : found) {
    part.loss /= static_cast<double>(part.count);
    part.accuracy /= static_cast<double>(part.count);
  }
  return found;
}

}  // namespace heed

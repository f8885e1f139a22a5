#include "heed/generation/classify.h"

#include <algorithm>
#include <numeric>

#include "heed/autograd/tape.h"
#include "heed/ops/softmax.h"
#include "heed/tensor/create.h"

namespace heed {

std::vector<std::int32_t> read_text(const TextClassifier& classifier, std::string_view text,
                                    std::int64_t longest) {
  std::vector<std::int32_t> tokens = classifier.tokenizer->encode(text);
  tokens.insert(tokens.begin(), classifier.tokenizer->special().begin);
  if (std::ssize(tokens) > longest) tokens.resize(static_cast<std::size_t>(longest));
  return tokens;
}

std::vector<std::vector<float>> classify(const TextClassifier& classifier,
                                         std::span<const std::vector<std::int32_t>> texts) {
  if (texts.empty()) return {};
  const NoGrad no_grad;
  std::size_t longest = 1;
  for (const auto& text : texts) longest = std::max(longest, text.size());
  const auto B = std::ssize(texts), T = static_cast<std::int64_t>(longest);
  Tensor ids = full({B, T}, classifier.tokenizer->special().padding, DType::i64);  // [B, T]
  Tensor lengths = empty({B}, DType::i64);                                         // [B]
  for (std::int64_t b = 0; b < B; ++b) {
    const auto& text = texts[static_cast<std::size_t>(b)];
    std::ranges::copy(text, ids.mutable_data<std::int64_t>() + b * T);
    lengths.mutable_data<std::int64_t>()[b] = std::ssize(text);
  }
  const Tensor p = softmax(classifier.model(ids, lengths));  // [B, C]
  const std::span<const float> all = p.values<float>();
  const auto classes = static_cast<std::size_t>(p.size(1));
  std::vector<std::vector<float>> results;
  for (std::size_t b = 0; b < texts.size(); ++b) {
    const std::span<const float> row = all.subspan(b * classes, classes);
    results.emplace_back(row.begin(), row.end());
  }
  return results;
}

std::vector<std::size_t> by_probability(std::span<const float> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  return order;
}

}  // namespace heed

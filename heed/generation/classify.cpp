#include "heed/generation/classify.h"

#include <algorithm>
#include <numeric>

#include "heed/autograd/tape.h"
#include "heed/generation/ordering.h"
#include "heed/io/config.h"
#include "heed/ops/softmax.h"
#include "heed/tensor/padding.h"

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
  std::vector<std::span<const std::int32_t>> rows(texts.begin(), texts.end());
  const PaddedRows batch = pad_rows(rows, classifier.tokenizer->special().padding);
  const Tensor p = softmax((*classifier.model)(batch.tokens, batch.lengths));  // [B, C]
  const std::span<const float> all = p.values<float>();
  const auto classes = static_cast<std::size_t>(p.size(1));
  std::vector<std::vector<float>> results;
  for (std::size_t b = 0; b < texts.size(); ++b) {
    const std::span<const float> row = all.subspan(b * classes, classes);
    results.emplace_back(row.begin(), row.end());
  }
  return results;
}

void ClassifyOptions::fields(io::Fields& field) {
  field("max_source", max_source, "maximum number of tokens read of a text", {.min = 1});
  field("batch_tokens", batch_tokens, "tokens of a batch, including padding",
        {.min = 1, .max = 1 << 30});
}

void ClassifyOptions::validate() const { io::check_limits(*this, "classify"); }

std::vector<std::vector<float>> classify_texts(const TextClassifier& classifier,
                                               std::span<const std::string> texts,
                                               const ClassifyOptions& options,
                                               const std::function<void()>& on_batch) {
  options.validate();
  const std::int64_t longest = std::min(options.max_source, classifier.model->max_length());
  std::vector<std::vector<std::int32_t>> read;
  std::vector<std::int64_t> lengths;
  for (const std::string& text : texts) {
    read.push_back(read_text(classifier, text, longest));
    lengths.push_back(std::ssize(read.back()));
  }
  std::vector<std::vector<float>> results(texts.size());
  for (const auto& places : plan_batches(lengths, {.batch_tokens = options.batch_tokens})) {
    if (on_batch) on_batch();
    std::vector<std::vector<std::int32_t>> batch;
    for (const std::int64_t place : places) batch.push_back(read[static_cast<std::size_t>(place)]);
    std::vector<std::vector<float>> found = classify(classifier, batch);
    for (std::size_t i = 0; i < places.size(); ++i) {
      results[static_cast<std::size_t>(places[i])] = std::move(found[i]);
    }
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

// What a classifier thinks of texts: probabilities of its labels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/text_model.h"
#include "heed/io/fields.h"
#include "heed/tensor/padding.h"

namespace heed {

/// A text as the model reads it: the begin token and the text's own, at most `longest` of them all.
std::vector<std::int32_t> read_text(const TextClassifier& classifier, std::string_view text,
                                    std::int64_t longest);

/// The probabilities of the labels, in the classifier's order, for each text of a batch.
std::vector<std::vector<float>> classify(const TextClassifier& classifier,
                                         std::span<const std::vector<std::int32_t>> texts);

struct ClassifyOptions {
  std::int64_t max_source = 1024;            // the most tokens of a text that are read
  std::int64_t batch_tokens = kBatchTokens;  // texts of a batch, padding included

  void fields(io::Fields& field);
};

/// The probabilities of the labels for each text, in the order given. `on_batch` is called before
/// each batch and may end the work by throwing.
std::vector<std::vector<float>> classify_texts(const TextClassifier& classifier,
                                               std::span<const std::string> texts,
                                               const ClassifyOptions& options = {},
                                               const std::function<void()>& on_batch = {});

/// The places of the labels, likeliest first, the earlier one first among equals.
std::vector<std::size_t> by_probability(std::span<const float> probabilities);

}  // namespace heed

// What a classifier thinks of texts: probabilities of its labels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/generation/text_model.h"

namespace heed {

/// A text as the model reads it: the begin token and the text's own, at most `longest` of them all.
std::vector<std::int32_t> read_text(const TextClassifier& classifier, std::string_view text,
                                    std::int64_t longest);

/// The probabilities of the labels, in the classifier's order, for each text of a batch.
std::vector<std::vector<float>> classify(const TextClassifier& classifier,
                                         std::span<const std::vector<std::int32_t>> texts);

/// The places of the labels, likeliest first, the earlier one first among equals.
std::vector<std::size_t> by_probability(std::span<const float> probabilities);

}  // namespace heed

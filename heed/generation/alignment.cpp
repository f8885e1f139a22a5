#include "heed/generation/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// Checked weights, with access to their elements.
class Matrix {
 public:
  explicit Matrix(const Tensor& weights) {
    HEED_CHECK(weights.defined() && weights.rank() == 2 && weights.dtype() == DType::f32,
               "[alignment] weights must be [targets, sources] of f32");
    data_ = contiguous_copy(weights);
    for (const float weight : data_.values<float>()) {
      HEED_CHECK(!std::isnan(weight), "[alignment] the weights hold NaN");
    }
  }
  std::int64_t targets() const { return data_.size(0); }
  std::int64_t sources() const { return data_.size(1); }
  float operator()(AlignmentLink at) const {
    return data_.data<float>()[at.target * sources() + at.source];
  }

 private:
  Tensor data_;
};

std::int64_t heaviest_source(const Matrix& weights, std::int64_t target) {
  std::int64_t best = 0;
  for (std::int64_t s = 1; s < weights.sources(); ++s) {
    if (weights({s, target}) > weights({best, target})) best = s;
  }
  return best;
}

std::int64_t heaviest_target(const Matrix& weights, std::int64_t source) {
  std::int64_t best = 0;
  for (std::int64_t t = 1; t < weights.targets(); ++t) {
    if (weights({source, t}) > weights({source, best})) best = t;
  }
  return best;
}

void normalise(Alignment& links) {
  std::sort(links.begin(), links.end(), [](const AlignmentLink& a, const AlignmentLink& b) {
    return std::pair(a.source, a.target) < std::pair(b.source, b.target);
  });
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

std::int64_t word_count(std::span<const std::int64_t> words) {
  return words.empty() ? 0 : 1 + std::max(kNoWord, *std::max_element(words.begin(), words.end()));
}

std::int64_t word_of(std::span<const std::int64_t> words, std::int64_t token) {
  HEED_CHECK(token >= 0 && token < std::ssize(words),
             "[alignment] token {} is linked, but words are given for {} tokens", token,
             words.size());
  return words[static_cast<std::size_t>(token)];
}

}  // namespace

Alignment hard_alignment(const Tensor& weights, const HardAlignmentOptions& options) {
  const Matrix matrix(weights);
  Alignment links;
  for (std::int64_t t = 0; t < matrix.targets() && matrix.sources() > 0; ++t) {
    if (!options.threshold) {
      links.push_back({heaviest_source(matrix, t), t});
      continue;
    }
    for (std::int64_t s = 0; s < matrix.sources(); ++s) {
      if (matrix({s, t}) >= *options.threshold) links.push_back({s, t});
    }
  }
  if (options.mutual) {
    std::erase_if(links, [&](const AlignmentLink& link) {
      return heaviest_target(matrix, link.source) != link.target;
    });
  }
  normalise(links);
  return links;
}

std::vector<std::int64_t> word_numbers(std::span<const WordSpan> words, std::size_t tokens) {
  std::vector<std::int64_t> numbers(tokens, kNoWord);
  for (std::size_t word = 0; word < words.size(); ++word) {
    const auto [begin, end] = words[word];
    HEED_CHECK(begin <= end && end <= tokens,
               "[alignment] word {} has the tokens {} to {}, but there are {}", word, begin, end,
               tokens);
    std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
              numbers.begin() + static_cast<std::ptrdiff_t>(end), static_cast<std::int64_t>(word));
  }
  return numbers;
}

Alignment merge_words(const Alignment& links, const WordMap& words) {
  Alignment merged;
  for (const AlignmentLink& link : links) {
    const AlignmentLink of_words{word_of(words.source, link.source),
                                 word_of(words.target, link.target)};
    if (of_words.source != kNoWord && of_words.target != kNoWord) merged.push_back(of_words);
  }
  normalise(merged);
  return merged;
}

Tensor merge_words(const Tensor& weights, const WordMap& words) {
  const Matrix matrix(weights);
  HEED_CHECK(
      matrix.targets() == std::ssize(words.target) && matrix.sources() == std::ssize(words.source),
      "[alignment] weights [{}, {}] of tokens, but words are given for {} target and {} "
      "source tokens",
      matrix.targets(), matrix.sources(), words.target.size(), words.source.size());
  const std::int64_t sources = word_count(words.source);
  Tensor merged = zeros({word_count(words.target), sources});
  float* const data = merged.mutable_data<float>();
  for (std::int64_t t = 0; t < matrix.targets(); ++t) {
    const std::int64_t target = words.target[static_cast<std::size_t>(t)];
    if (target == kNoWord) continue;
    const auto tokens = std::count(words.target.begin(), words.target.end(), target);
    for (std::int64_t s = 0; s < matrix.sources(); ++s) {
      const std::int64_t source = words.source[static_cast<std::size_t>(s)];
      if (source == kNoWord) continue;
      data[target * sources + source] += matrix({s, t}) / static_cast<float>(tokens);
    }
  }
  return merged;
}

std::string to_pharaoh(const Alignment& alignment) {
  std::string text;
  for (const AlignmentLink& link : alignment) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", link.source, link.target);
  }
  return text;
}

std::string to_soft_text(const Tensor& weights) {
  const Matrix matrix(weights);
  std::string text;
  for (std::int64_t t = 0; t < matrix.targets(); ++t) {
    if (t > 0) text += ' ';
    for (std::int64_t s = 0; s < matrix.sources(); ++s) {
      text += fmt::format("{}{:g}", s > 0 ? "," : "", matrix({s, t}));
    }
  }
  return text;
}

}  // namespace heed

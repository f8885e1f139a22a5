#include "heed/generation/rules.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"

namespace heed {

Rule ban_tokens(std::vector<std::int32_t> tokens) {
  return [tokens = std::move(tokens)](std::span<const std::int32_t> /*prefix*/,
                                      std::vector<std::int32_t>& banned) {
    banned.insert(banned.end(), tokens.begin(), tokens.end());
  };
}

Rule ban_sequences(std::vector<std::vector<std::int32_t>> sequences) {
  std::erase_if(sequences, [](const auto& sequence) { return sequence.empty(); });
  return [sequences = std::move(sequences)](std::span<const std::int32_t> prefix,
                                            std::vector<std::int32_t>& banned) {
    for (const std::vector<std::int32_t>& sequence : sequences) {
      const std::size_t context = sequence.size() - 1;
      if (prefix.size() < context) continue;
      if (std::ranges::equal(std::span(sequence).first(context), prefix.last(context))) {
        banned.push_back(sequence.back());
      }
    }
  };
}

Rule require_length(std::int64_t min_length, std::vector<std::int32_t> ends) {
  return [min_length, ends = std::move(ends)](std::span<const std::int32_t> prefix,
                                              std::vector<std::int32_t>& banned) {
    if (std::ssize(prefix) < min_length) banned.insert(banned.end(), ends.begin(), ends.end());
  };
}

Rule ban_repeated_ngrams(std::int64_t n) {
  HEED_CHECK(n >= 1, "[rules] sequences of {} tokens: the least is 1", n);
  return
      [context = n - 1](std::span<const std::int32_t> prefix, std::vector<std::int32_t>& banned) {
        if (std::ssize(prefix) <= context) return;
        const auto last =
            prefix.end() - context;  // start of the n-gram that the next token would complete
        for (auto at = prefix.begin(); at + context != prefix.end(); ++at) {
          if (std::equal(last, prefix.end(), at)) banned.push_back(at[context]);
        }
      };
}

}  // namespace heed

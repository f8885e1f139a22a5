// Prompts are read in parts, between which other sequences can step. The parts depend on the prompt
// alone, and so do the bits of what follows it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "heed/generation/decoding_steps.h"

namespace heed {

/// Tokens of a part; the last one has fewer.
inline constexpr std::int64_t kPromptPart = 512;

/// The tokens of the part that begins at position `at`.
inline std::span<const std::int32_t> prompt_part(std::span<const std::int32_t> prompt,
                                                 std::int64_t at) {
  return prompt.subspan(static_cast<std::size_t>(at),
                        static_cast<std::size_t>(std::min(kPromptPart, std::ssize(prompt) - at)));
}

/// Reads prompts of equal length, one for each sequence.
inline void read_in_parts(Decoding& decoding, std::span<const std::vector<std::int32_t>> prompts) {
  const std::int64_t length = prompts.empty() ? 0 : std::ssize(prompts[0]);
  for (std::int64_t at = 0; at < length; at += kPromptPart) {
    std::vector<std::int32_t> tokens;
    for (const std::vector<std::int32_t>& prompt : prompts) {
      const std::span<const std::int32_t> part = prompt_part(prompt, at);
      tokens.insert(tokens.end(), part.begin(), part.end());
    }
    decoding.step(ids_of(tokens, std::ssize(prompts)));
  }
}

}  // namespace heed

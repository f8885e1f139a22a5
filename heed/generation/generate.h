// Text from a language model: a prompt, and what the model goes on with.
//
//   generate(generator, {.prompt = tokens}, {.method = SearchMethod::sample});
//
// A model whose positions end (learned ones do) reads the last half of its context again whenever
// it is full, so that texts may be longer than it: tokens then depend on at least half a context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/options.h"
#include "heed/generation/step_model.h"
#include "heed/generation/text_model.h"

namespace heed {

/// What a text begins with.
struct GenerateRequest {
  std::span<const std::int32_t> prompt;  ///< At least one token.
  std::uint64_t stream = 0;              ///< Of random numbers.
  /// Called with each token as it is chosen, where one sequence is followed: a beam of 1, or one
  /// sample.
  std::function<void(std::int32_t token)> on_token = {};
  std::function<void()> on_step = {};  ///< Before each step of the search; may end it by throwing.
};

/// The n best ways to go on, without the prompt; max_length_ratio and max_length_extra mean nothing
/// here.
NBest generate(const TextGenerator& generator, const GenerateRequest& request,
               const SearchOptions& options);

/// The tokens that stand in for a prompt where none is given: a line end, as nanoGPT has it, or the
/// begin token if the vocabulary has none.
std::vector<std::int32_t> empty_prompt(const Tokenizer& tokenizer);

/// One sequence in each of `rows`, all of which begin with a prompt, over any length. At most
/// `context` tokens are read at once. The model must outlive it.
std::unique_ptr<StepModel> make_endless_steps(const LanguageModel& model, std::int64_t rows,
                                              std::span<const std::int32_t> prompt,
                                              std::int64_t context);

}  // namespace heed

// Text from a language model: a prompt, and its continuation.
//
//   const Prompt prompt = read_prompt(generator, "Once upon a time");
//   generate_text(generator, prompt, {})[0].text;
//
// A model with a limited number of positions (learned ones, say) reads the last half of its context
// again whenever the context is full, so that texts may be longer: tokens then depend on at least
// half a context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/options.h"
#include "heed/generation/step_model.h"
#include "heed/generation/text_model.h"

namespace heed {

/// The options of generation. Models read texts without an end token, so results have none:
/// max_length says how long they are.
struct GenerateOptions {
  /// Sampling with the usual bounds; unbounded samples ramble.
  SearchOptions search = {.method = SearchMethod::sample,
                          .beam_size = 1,
                          .max_length = 500,
                          .temperature = 0.8,
                          .top_k = 200};

  void fields(io::Fields& field);
  void validate() const { search.validate(); }
};

/// The start of a text.
struct Prompt {
  std::vector<std::int32_t> tokens;  ///< At least one.
  std::string text;                  ///< As the model reads it; empty if none was given.
};

/// Reads a prompt. Of an empty one, a line end takes the place, as in nanoGPT, or the begin token
/// if the vocabulary has no line end.
Prompt read_prompt(const TextGenerator& generator, std::string_view text);

/// Hooks of one generation.
struct GenerateHooks {
  std::uint64_t stream = 0;  ///< Of random numbers; give each prompt its own.
  /// Called with each piece of the continuation as soon as it is certain, where one sequence is
  /// followed: a beam of 1, or one sample.
  std::function<void(const std::string& text)> on_text = {};
  std::function<void()> on_step = {};  ///< Before each step of the search; may end it by throwing.
};

/// One continuation.
struct GeneratedText {
  std::string text;  ///< Without the prompt.
  Hypothesis hypothesis;
};

/// The n best continuations of a prompt.
std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options,
                                         const GenerateHooks& hooks = {});

/// One sequence in each of `rows`, all of which begin with a prompt, over any length. At most
/// `context` tokens are read at once. The model must outlive it.
std::unique_ptr<StepModel> make_endless_steps(const CausalModel& model, std::int64_t rows,
                                              std::span<const std::int32_t> prompt,
                                              std::int64_t context);

}  // namespace heed

// Text from a language model: a prompt, and its continuation.
//
//   const Prompt prompt = read_prompt(generator, "Once upon a time");
//   generate_text(generator, prompt, {})[0].text;
//
// A text ends with one of the tokens that end texts of this model (TextGenerator::ends), at a stop
// string, or at its maximum length.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/options.h"
#include "heed/generation/text_model.h"

namespace heed {

class EndlessSteps;
struct FolderFormat;

/// The format of folders of language models (folder_format.h).
extern const FolderFormat kGeneratorFolder;

/// The options of generation.
struct GenerateOptions {
  /// Sampling with the usual bounds; unbounded samples ramble.
  SearchOptions search = {.method = SearchMethod::sample,
                          .beam_size = 1,
                          .max_length = 500,
                          .temperature = 0.8,
                          .top_k = 200};
  bool ignore_end = false;             // texts go on to max_length
  std::vector<std::string> stop = {};  // a text ends before the first of these
  bool json_object = false;            // a text is a JSON object

  void fields(io::Fields& field);
  void validate() const;
};

/// The options that the publisher of a model recommends; heed's where it says nothing.
GenerateOptions usual_options(const TextGenerator& generator);

/// The start of a text.
struct Prompt {
  std::vector<std::int32_t> tokens;  ///< At least one.
  std::string text;                  ///< As the model reads it; empty if none was given.
};

/// Reads a prompt, with the special tokens before it that the model expects. Of an empty prompt the
/// begin token takes the place, or, of a model that does not end texts, a line end if its
/// vocabulary has one, as in nanoGPT.
Prompt read_prompt(const TextGenerator& generator, std::string_view text);

/// Hooks of one generation.
struct GenerateHooks {
  std::uint64_t stream = 0;  ///< Of random numbers; give each prompt its own.
  /// Called with each piece of the continuation as soon as it is certain, where one sequence is
  /// followed: a beam of 1, or one sample. Pieces are not empty.
  std::function<void(const std::string& text)> on_text = {};
  std::function<void()> on_step = {};  ///< Before each step of the search; may end it by throwing.
};

/// One continuation.
struct GeneratedText {
  std::string text;  ///< Without the prompt and without the stop string that ended it.
  Hypothesis hypothesis;
};

/// The n best continuations of a prompt.
std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options,
                                         const GenerateHooks& hooks = {});
/// The same by steps that have read the prompt. Afterwards they have read the continuation too, if
/// one sequence is followed.
std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options, const GenerateHooks& hooks,
                                         EndlessSteps& steps);

}  // namespace heed

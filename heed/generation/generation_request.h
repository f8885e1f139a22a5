// The parts of text generation that do not depend on how its steps are run: the request of a
// scheduler for the continuation of a prompt, and the texts of its results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/generation/generate.h"
#include "heed/generation/request.h"
#include "heed/text/decode_stream.h"

namespace heed {

/// Throws heed::Error if a prompt has no tokens, or more than the model has positions.
void check_prompt(const TextGenerator& generator, const Prompt& prompt);

/// Whether a prompt and its longest continuation fit into the model's positions, as a scheduler
/// needs it. If not, generate_text() reads the last half of the text again whenever they are full.
bool fits_positions(const TextGenerator& generator, const Prompt& prompt,
                    const GenerateOptions& options);

/// The request for the continuations of a prompt. The generator must outlive it.
Request generation_request(const TextGenerator& generator, const Prompt& prompt,
                           const GenerateOptions& options, std::uint64_t stream);

/// The texts of results.
std::vector<GeneratedText> texts_of(const TextGenerator& generator, const Prompt& prompt,
                                    const GenerateOptions& options, const NBest& found);

/// Passes on the text of one continuation piece by piece, as soon as it is certain: without an end
/// that may be the beginning of a stop string.
class TextTeller {
 public:
  using OnText = std::function<void(const std::string& text)>;

  TextTeller(const TextGenerator& generator, const Prompt& prompt, const GenerateOptions& options,
             OnText on_text);

  void add(std::int32_t token);
  /// The rest of the whole text.
  void finish(std::string whole);

 private:
  void tell(std::size_t end);

  DecodeStream stream_;
  std::vector<std::string> stops_;
  OnText on_text_;
  std::string text_;
  std::size_t told_ = 0;
};

}  // namespace heed

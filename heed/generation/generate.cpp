#include "heed/generation/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/generation/endless_steps.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/generation_request.h"
#include "heed/generation/search.h"
#include "heed/generation/watched_steps.h"
#include "heed/io/config.h"
#include "heed/text/decode_stream.h"

namespace heed {
namespace {

// Throws if the texts would not fit into memory.
void check_texts_fit(const TextGenerator& generator, const Prompt& prompt,
                     const SearchOptions& search) {
  const std::int64_t rows =
      search.method == SearchMethod::sample ? search.n_best : search.beam_size;
  const std::int64_t room = generator.model->max_length() - std::ssize(prompt.tokens);
  const std::int64_t tokens =
      std::ssize(prompt.tokens) + std::clamp<std::int64_t>(room, 0, search.max_length);
  check_memory(rows * generator.model->cache_bytes(tokens, search.cache), "generate",
               fmt::format("the cache of {} texts of {} tokens", rows, tokens),
               "use cache = bf16 or int8, or a smaller max_length or beam_size");
}

}  // namespace

void GenerateOptions::fields(io::Fields& field) {
  field("method", search.method, "take the most probable tokens, or sample");
  field("beam_size", search.beam_size, "number of hypotheses; 1: greedy search", kBeamLimits);
  field("n_best", search.n_best, "number of texts for each prompt", kBeamLimits);
  field("max_length", search.max_length, "maximum number of tokens of a text", {.min = 0});
  field("ignore_end", ignore_end, "continue to max_length; the tokens that end texts are not used");
  field("stop", stop, "strings at which a text ends; it does not contain them");
  field("json_object", json_object, "the text is a JSON object, complete unless it is too long");
  search.choice_fields(field);
}

void GenerateOptions::validate() const {
  search.validate();
  HEED_CHECK(std::ranges::count(stop, "") == 0,
             "[generate] a stop string is empty: give at least one character");
}

GenerateOptions usual_options(const TextGenerator& generator) {
  GenerateOptions options;
  io::set_fields(options, generator.options);
  return options;
}

Prompt read_prompt(const TextGenerator& generator, std::string_view text) {
  const Tokenizer& tokenizer = *generator.tokenizer;
  Prompt prompt{.tokens = tokenizer.encode_with_special(text), .text = ""};
  const std::optional<std::int32_t> begin = generator.begin;
  if (begin && (prompt.tokens.empty() || prompt.tokens[0] != *begin)) {
    prompt.tokens.insert(prompt.tokens.begin(), *begin);
  }
  if (!prompt.tokens.empty()) {
    DecodeStream stream(tokenizer);
    for (const std::int32_t token : prompt.tokens) prompt.text += stream.add(token);
    return prompt;
  }
  const SpecialTokens special = tokenizer.special();
  if (generator.ends.empty()) prompt.tokens = tokenizer.encode("\n");
  if (prompt.tokens.empty() || std::ranges::count(prompt.tokens, special.unknown) > 0) {
    prompt.tokens = {special.begin};
  }
  return prompt;
}

std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options,
                                         const GenerateHooks& hooks) {
  options.validate();
  check_prompt(generator, prompt);
  check_texts_fit(generator, prompt, options.search);
  EndlessSteps steps(*generator.model, 1, prompt.tokens, generator.model->max_length(),
                     options.search.cache);
  return generate_text(generator, prompt, options, hooks, steps);
}

std::vector<GeneratedText> generate_text(const TextGenerator& generator, const Prompt& prompt,
                                         const GenerateOptions& options, const GenerateHooks& hooks,
                                         EndlessSteps& steps) {
  const NoGrad no_grad;
  options.validate();
  TextTeller teller(generator, prompt, options, hooks.on_text);
  const bool tells = hooks.on_text && is_single(options.search);
  bool is_begun = false;
  WatchedSteps watched(steps, [&](std::span<const std::int32_t> last) {
    if (hooks.on_step) hooks.on_step();
    const bool is_chosen = std::exchange(is_begun, true);  // the first is the prompt's
    if (is_chosen && tells && last.size() == 1) teller.add(last[0]);
  });
  const Request request = generation_request(generator, prompt, options, hooks.stream);
  const std::vector<NBest> found = search(watched, {&request.start, 1}, *request.plan);
  std::vector<GeneratedText> results = texts_of(generator, prompt, options, found[0]);
  if (tells && !results.empty()) teller.finish(results[0].text);
  return results;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct GeneratorKeys {
  std::string tokenizer;

  void fields(io::Fields& field, bool is_imported) {
    if (!is_imported) field("tokenizer", tokenizer, "file of the tokenizer");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    TextGenerator generator{as_interface<CausalModel>(std::move(model)),
                            load_tokenizer(folder / tokenizer)};
    check_vocabulary(generator.model->vocabulary(), *generator.tokenizer, folder);
    return generator;
  }
};

}  // namespace

constinit const FolderFormat kGeneratorFolder =
    folder_format<GeneratorKeys, import_generator>(Task::language);

TextGenerator load_text_generator(const std::filesystem::path& place, WeightForm form) {
  return std::get<TextGenerator>(load_task(place, Task::language, form));
}

void save_model(const TextGenerator& generator, const std::filesystem::path& folder) {
  GeneratorKeys keys;
  if (!generator.origin) keys.tokenizer = write_tokenizer(*generator.tokenizer, folder);
  save_folder(*generator.model, std::move(keys), generator.origin, folder);
}

}  // namespace heed

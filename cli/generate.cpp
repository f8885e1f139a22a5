// heed generate: text from a language model, on a terminal as it is made.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/verbs.h"
#include "heed/base/threads.h"
#include "heed/generation/generate.h"
#include "heed/io/config.h"
#include "heed/text/decode_stream.h"

namespace heed::cli {
namespace {

struct GenerateFlags {
  std::string model, prompt, separator = "---------------";
  FilterFlags files{.input = ""};
  int threads = 0;
  std::vector<std::string> search;  // "key=value"
};

// A draw from the model as it is would ramble; these are the usual bounds.
SearchOptions usual_options() {
  return {.method = SearchMethod::sample,
          .beam_size = 1,
          .max_length = 500,
          .temperature = 0.8,
          .top_k = 200};
}

// What is asked of a translation only, or stands under another name.
bool is_for_text(const io::FieldInfo& field) {
  for (const char* const other : {"min_length", "max_length_ratio", "max_length_extra", "n_best"}) {
    if (field.path == other) return false;
  }
  return true;
}

// The texts that begin with prompts, one after the other.
class Writer {
 public:
  Writer(const TextGenerator& generator, const SearchOptions& options, const GenerateFlags& flags)
      : generator_(generator), options_(options), flags_(flags), output_(flags.files.output) {}

  void write(const std::string& prompt, std::uint64_t number) {
    std::vector<std::int32_t> tokens = generator_.tokenizer->encode(prompt);
    if (tokens.empty()) tokens = empty_prompt(*generator_.tokenizer);
    begin();
    DecodeStream stream(*generator_.tokenizer);
    std::string before;
    for (const std::int32_t token : tokens) before += stream.add(token);
    if (prompt.empty()) before.clear();  // what stands in for a prompt is not shown
    bool is_streamed = false;
    const auto say = [&](std::int32_t token) {
      if (!std::exchange(is_streamed, true)) output_.write(before);
      output_.write(stream.add(token));
    };
    const NBest found =
        generate(generator_, {.prompt = tokens, .stream = number, .on_token = say}, options_);
    if (is_streamed) {
      output_.write(stream.finish() + "\n");
      return;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0) begin();
      DecodeStream copy = stream;
      std::string text = before;
      for (const std::int32_t token : found[i].tokens) text += copy.add(token);
      output_.write(text + copy.finish() + "\n");
    }
  }
  void commit() { output_.commit(); }

 private:
  void begin() {
    if (texts_++ > 0) output_.write(flags_.separator + "\n");
  }

  const TextGenerator& generator_;
  const SearchOptions& options_;
  const GenerateFlags& flags_;
  Output output_;
  std::int64_t texts_ = 0;
};

void generate_texts(const GenerateFlags& flags) {
  SearchOptions options = usual_options();
  io::set_fields(options, flags.search);
  options.min_length = options.max_length;  // texts are read without an end, so they have none
  if (flags.threads > 0) set_num_threads(flags.threads);
  const TextGenerator generator = load_text_generator(flags.model);
  Writer writer(generator, options, flags);
  if (flags.files.input.empty()) {
    writer.write(flags.prompt, 0);
  } else {
    TextLines lines(flags.files.input, flags.files.policy());
    std::uint64_t number = 0;
    for (std::string line; lines.next(line);) writer.write(line, number++);
    if (!lines.describe_bad().empty()) print_note("bad lines: " + lines.describe_bad());
  }
  writer.commit();
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("generate", "Write text with a language model");
  const auto flags = std::make_shared<GenerateFlags>();
  verb->add_option("-m,--model", flags->model, "the folder of a language model")->required();
  CLI::Option* const prompt =
      verb->add_option("-p,--prompt", flags->prompt, "what the text begins with");
  add_filter_flags(*verb, flags->files, "prompts, one a line");
  verb->get_option("--input")->excludes(prompt);
  verb->add_option("--separator", flags->separator, "the line between two texts")
      ->capture_default_str();
  verb->add_option("--cpu-threads", flags->threads, "0: all")->capture_default_str();
  verb->add_option_function<std::int64_t>(
          "-n,--samples",
          [flags](std::int64_t samples) {
            flags->search.push_back(fmt::format("n_best={}", samples));
          },
          "texts for each prompt")
      ->check(CLI::PositiveNumber)
      ->default_str("1");
  std::vector<io::FieldInfo> fields = io::list_fields(usual_options());
  std::erase_if(fields, [](const io::FieldInfo& field) { return !is_for_text(field); });
  add_config_flags(*verb, fields, flags->search);
  verb->callback([flags] { run_filter([&] { generate_texts(*flags); }); });
}

}  // namespace heed::cli

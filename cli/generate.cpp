// heed generate: writes text with a language model, on a terminal while it is generated.
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
#include "heed/generation/model_folder.h"
#include "heed/io/config.h"

namespace heed::cli {
namespace {

struct GenerateFlags {
  std::string model, prompt, separator = "---------------";
  FilterFlags files{.input = ""};
  int threads = 0;
  std::vector<std::string> search;  // "key=value"
  std::vector<std::string> stop;
};

// Writes the texts of the prompts, one after another.
class Writer {
 public:
  Writer(const TextGenerator& generator, const GenerateOptions& options, const GenerateFlags& flags)
      : generator_(generator), options_(options), flags_(flags), output_(flags.files.output) {}

  void write(const std::string& text, std::uint64_t number) {
    const Prompt prompt = read_prompt(generator_, text);
    begin();
    bool is_streamed = false;
    const auto say = [&](const std::string& piece) {
      if (!std::exchange(is_streamed, true)) output_.write(prompt.text);
      output_.write(piece);
    };
    const std::vector<GeneratedText> found = generate_text(
        generator_, prompt, options_, {.stream = number, .on_text = say, .on_step = check_signals});
    if (is_streamed) return output_.write("\n");
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0) begin();
      output_.write(prompt.text + found[i].text + "\n");
    }
  }
  void commit() { output_.commit(); }

 private:
  void begin() {
    if (texts_++ > 0) output_.write(flags_.separator + "\n");
  }

  const TextGenerator& generator_;
  const GenerateOptions& options_;
  const GenerateFlags& flags_;
  Output output_;
  std::int64_t texts_ = 0;
};

void generate_texts(const GenerateFlags& flags) {
  GenerateOptions options;
  io::set_fields(options, flags.search);
  options.stop = flags.stop;
  options.validate();
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
  CLI::Option* const prompt = verb->add_option("-p,--prompt", flags->prompt, "start of the text");
  add_filter_flags(*verb, flags->files, "prompts, one a line");
  verb->get_option("--input")->excludes(prompt);
  verb->add_option("--separator", flags->separator, "line between two texts")
      ->capture_default_str();
  add_thread_flag(*verb, flags->threads);
  verb->add_option_function<std::int64_t>(
          "-n,--samples",
          [flags](std::int64_t samples) {
            flags->search.push_back(fmt::format("n_best={}", samples));
          },
          "number of texts for each prompt")
      ->check(CLI::Range(static_cast<int>(kBeamLimits.min), static_cast<int>(kBeamLimits.max)))
      ->default_str("1");
  // As a field it would be a list with commas, which stop strings may have too.
  verb->add_option("--stop", flags->stop,
                   "the text ends before this string; may be given several times")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  std::vector<io::FieldInfo> fields = io::list_fields(GenerateOptions{});
  std::erase_if(fields, [](const io::FieldInfo& field) {
    return field.path == "n_best" || field.path == "stop";
  });
  add_config_flags(*verb, fields, flags->search);
  verb->callback([flags] { run_filter([&] { generate_texts(*flags); }); });
}

}  // namespace heed::cli

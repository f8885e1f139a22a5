// heed generate: writes text with a language model, on a terminal while it is generated.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/model_flags.h"
#include "cli/verbs.h"
#include "heed/generation/chat.h"
#include "heed/generation/generate.h"
#include "heed/generation/model_folder.h"
#include "heed/io/config.h"
#include "heed/io/json.h"
#include "heed/text/unicode.h"

namespace heed::cli {
namespace {

struct GenerateFlags {
  ModelFlags model;
  std::string prompt, system, separator = "---------------", format = "text";
  bool is_chat = false;
  FilterFlags files{.input = ""};
  std::vector<std::string> search;  // "key=value"
  std::vector<std::string> stop;
};

// One result on a line.
std::string json_line(const std::string& prompt, const GeneratedText& found) {
  const Hypothesis& numbers = found.hypothesis;
  return fmt::format(
      R"({{"prompt": {}, "text": {}, "tokens": [{}], "log_probability": {}, "finish": "{}"}})"
      "\n",
      io::quote_json(unicode::make_valid(prompt)), io::quote_json(unicode::make_valid(found.text)),
      fmt::join(numbers.tokens, ", "), io::number_text(numbers.log_probability),
      io::enum_name(numbers.finish));
}

// Writes texts, one after another, as the flags say.
class Writer {
 public:
  /// `has_separators`: whether lines between texts tell them apart.
  Writer(const GenerateFlags& flags, bool has_separators)
      : is_json_(flags.format == "json"),
        separator_(is_json_ || !has_separators ? "" : flags.separator + "\n"),
        output_(flags.files.output) {}

  /// Writes the results of one prompt, which `generate` makes; it may pass the text of a single one
  /// piece by piece to its argument. `start` is written before each text.
  template <typename Generate>
  void write(const std::string& prompt, const std::string& start, const Generate& generate) {
    bool is_streamed = false;
    const auto say = [&](const std::string& piece) {
      if (!std::exchange(is_streamed, true)) begin(start);
      output_.write(piece);
    };
    const std::vector<GeneratedText> found = is_json_ ? generate({}) : generate(say);
    if (is_streamed) return output_.write("\n");
    for (const GeneratedText& text : found) {
      if (is_json_) {
        output_.write(json_line(prompt, text));
      } else {
        begin(start);
        output_.write(text.text + "\n");
      }
    }
  }
  void commit() { output_.commit(); }

 private:
  void begin(const std::string& start) {
    output_.write(std::exchange(is_first_, false) ? start : separator_ + start);
  }

  bool is_json_;
  std::string separator_;
  Output output_;
  bool is_first_ = true;
};

using OnText = std::function<void(const std::string& text)>;

// Continues the prompt, or every line of the input.
void continue_texts(const TextGenerator& generator, const GenerateOptions& options,
                    const GenerateFlags& flags) {
  Writer writer(flags, true);
  const auto write = [&](const std::string& text, std::uint64_t number) {
    const Prompt prompt = read_prompt(generator, text);
    writer.write(text, prompt.text, [&](const OnText& say) {
      return generate_text(generator, prompt, options,
                           {.stream = number, .on_text = say, .on_step = check_signals});
    });
  };
  if (flags.files.input.empty()) {
    write(flags.prompt, 0);
  } else {
    TextLines lines(flags.files.input, flags.files.policy());
    std::uint64_t number = 0;
    for (std::string line; lines.next(line);) write(line, number++);
    if (!lines.describe_bad().empty()) print_note("bad lines: " + lines.describe_bad());
  }
  writer.commit();
}

// Answers the prompt, or every line of the input, in one chat. On a terminal it asks for lines.
void chat(const TextGenerator& generator, const GenerateOptions& options,
          const GenerateFlags& flags) {
  Chat chat(generator, flags.system);
  const bool has_prompt = flags.files.input.empty() && !flags.prompt.empty();
  const std::string input = flags.files.input.empty() ? "-" : flags.files.input;
  const bool is_dialogue = !has_prompt && input == "-" && ::isatty(STDIN_FILENO) == 1;
  Writer writer(flags, !is_dialogue);
  const auto answer = [&](const std::string& message) {
    const std::uint64_t number = chat.messages().size();
    writer.write(message, "", [&](const OnText& say) {
      return std::vector{chat.answer(message, options,
                                     {.stream = number, .on_text = say, .on_step = check_signals})};
    });
  };
  if (has_prompt) {
    answer(flags.prompt);
    return writer.commit();
  }
  TextLines lines(input, flags.files.policy());
  const auto ask = [&] {
    if (is_dialogue) std::fputs("> ", stderr);
  };
  ask();
  for (std::string line; lines.next(line); ask()) {
    if (!line.empty()) answer(line);
  }
  if (is_dialogue) std::fputs("\n", stderr);
  if (!lines.describe_bad().empty()) print_note("bad lines: " + lines.describe_bad());
  writer.commit();
}

GenerateOptions chosen(GenerateOptions options, const GenerateFlags& flags) {
  io::set_fields(options, flags.search);
  options.stop = flags.stop;
  options.validate();
  return options;
}

void generate_texts(const GenerateFlags& flags) {
  chosen({}, flags);  // mistakes are told before the model is loaded
  flags.model.set_threads();
  const TextGenerator generator = load_text_generator(flags.model.folder, flags.model.form());
  const GenerateOptions options = chosen(usual_options(generator), flags);
  flags.is_chat ? chat(generator, options, flags) : continue_texts(generator, options, flags);
}

// The flags of texts and chats.
void add_text_flags(CLI::App& verb, GenerateFlags& flags) {
  CLI::Option* const prompt =
      verb.add_option("-p,--prompt", flags.prompt, "start of the text, or message of the chat");
  add_filter_flags(verb, flags.files, "prompts or messages, one a line");
  verb.get_option("--input")->excludes(prompt);
  CLI::Option* const chat = verb.add_flag(
      "--chat", flags.is_chat,
      "answer messages with the model's chat template; without --prompt and --input, those of "
      "standard input");
  verb.add_option("--system", flags.system, "system message of the chat")->needs(chat);
  verb.add_option("--format", flags.format,
                  "text, or json: a line for each text with its tokens, log-probability and the "
                  "reason of its end")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  verb.add_option("--separator", flags.separator, "line between two texts")->capture_default_str();
}

// The flags of the search.
void add_search_flags(CLI::App& verb, const std::shared_ptr<GenerateFlags>& flags) {
  verb.add_option_function<std::int64_t>(
          "-n,--samples",
          [flags](std::int64_t samples) {
            flags->search.push_back(fmt::format("n_best={}", samples));
          },
          "number of texts for each prompt")
      ->check(CLI::Range(static_cast<int>(kBeamLimits.min), static_cast<int>(kBeamLimits.max)))
      ->default_str("1");
  // As a field it would be a list with commas, which stop strings may have too.
  verb.add_option("--stop", flags->stop,
                  "the text ends before this string; may be given several times")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  std::vector<io::FieldInfo> fields = io::list_fields(GenerateOptions{});
  std::erase_if(fields, [](const io::FieldInfo& field) {
    return field.path == "n_best" || field.path == "stop";
  });
  add_config_flags(verb, fields, flags->search);
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("generate", "Write text with a language model");
  const auto flags = std::make_shared<GenerateFlags>();
  add_model_flags(*verb, flags->model, "the folder of a language model, or a GGUF file");
  add_text_flags(*verb, *flags);
  add_search_flags(*verb, flags);
  verb->callback([flags] { run_filter([&] { generate_texts(*flags); }); });
}

}  // namespace heed::cli

// heed generate: writes text with a language model, on a terminal while it is generated.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/find_option.h"
#include "cli/model_flags.h"
#include "cli/verbs.h"
#include "heed/generation/chat.h"
#include "heed/generation/generate.h"
#include "heed/generation/generation_filter.h"
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
  std::vector<std::string> search, scheduling;  // "key=value"
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
    is_streamed ? output_.write("\n") : write_all(prompt, start, found);
  }
  /// Writes complete results.
  void write_all(const std::string& prompt, const std::string& start,
                 const std::vector<GeneratedText>& found) {
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

// Texts that wait for their results while others are computed. More would delay answers.
constexpr OrderingOptions kTexts{.window = 256};

// Continues every line of the input: many at once, or, where lines come one by one, a single one
// whose text is written as it is generated.
class LineGenerator {
 public:
  LineGenerator(const TextGenerator& generator, const GenerateOptions& options,
                const SchedulerOptions& scheduling, Writer& writer)
      : generator_(generator),
        options_(options),
        writer_(writer),
        filter_(
            generator, options, scheduling, kTexts,
            [this](const Generated& one) {
              writer_.write_all(lines_.front(), one.prompt.text, one.found);
              lines_.pop_front();
            },
            check_signals) {}

  void add(const std::string& line) {
    if (held_) pass_on();
    held_ = line;
  }
  void flush() {
    if (held_ && lines_.empty()) {
      write_alone(*std::exchange(held_, {}));
    } else {
      if (held_) pass_on();
      filter_.flush();
    }
  }

  void write_alone(const std::string& line) {
    const Prompt prompt = read_prompt(generator_, line);
    writer_.write(line, prompt.text, [&](const OnText& say) {
      return generate_text(generator_, prompt, options_,
                           {.stream = number_++, .on_text = say, .on_step = check_signals});
    });
  }

 private:
  void pass_on() {
    lines_.push_back(*std::exchange(held_, {}));
    filter_.add(read_prompt(generator_, lines_.back()), number_++);
  }

  const TextGenerator& generator_;
  const GenerateOptions& options_;
  Writer& writer_;
  std::optional<std::string> held_;  // the last line: it may be the only one
  std::deque<std::string> lines_;    // those of the filter
  std::uint64_t number_ = 0;
  GenerationFilter filter_;
};

// Continues the prompt, or every line of the input.
void continue_texts(const TextGenerator& generator, const GenerateOptions& options,
                    const GenerateFlags& flags) {
  Writer writer(flags, true);
  SchedulerOptions scheduling;
  io::set_fields(scheduling, flags.scheduling);
  LineGenerator texts(generator, options, scheduling, writer);
  if (flags.files.input.empty()) {
    texts.write_alone(flags.prompt);
  } else {
    TextLines lines(flags.files.input, flags.files.policy());
    feed_lines(
        lines, [&](const std::string& line) { texts.add(line); }, [&] { texts.flush(); });
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
  SchedulerOptions scheduling;
  io::set_fields(scheduling, flags.scheduling);
  scheduling.validate();
  const TextGenerator generator = load_text_generator(flags.model.folder, flags.model.form());
  const GenerateOptions options = chosen(usual_options(generator), flags);
  flags.is_chat ? chat(generator, options, flags) : continue_texts(generator, options, flags);
}

// The flags of texts and chats.
void add_text_flags(CLI::App& verb, GenerateFlags& flags) {
  CLI::Option* const prompt =
      verb.add_option("-p,--prompt", flags.prompt, "start of the text, or message of the chat");
  add_filter_flags(verb, flags.files, "prompts or messages, one a line");
  find_option(verb, "--input")->excludes(prompt);
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
  add_config_flags(verb, io::list_fields(SchedulerOptions{}), flags->scheduling);
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

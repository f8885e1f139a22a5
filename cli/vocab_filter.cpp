#include "cli/vocab_filter.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/lines.h"
#include "heed/io/value.h"
#include "heed/text/subword_nmt.h"
#include "heed/text/word_list.h"
#include "heed/text/words.h"

namespace heed::cli {
namespace {

struct FilterFlags {
  std::string vocab;
  std::string file = "-";
  bool ids = false;
};

// Flushes every line, since a reader may be waiting for it.
void print_line(std::string line) {
  line += '\n';
  const bool done = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  HEED_CHECK(done && std::fflush(stdout) == 0, "[vocab] cannot write to standard output: {}",
             std::generic_category().message(errno));
}

void encode(const FilterFlags& flags) {
  const auto tokenizer = load_tokenizer(flags.vocab);
  io::LineReader reader(flags.file);
  for (std::string line; reader.next(line);) {
    const std::vector<std::int32_t> ids = tokenizer->encode(line);
    std::vector<std::string> shown;
    for (const std::int32_t id : ids) {
      shown.push_back(flags.ids ? std::to_string(id) : tokenizer->piece(id));
    }
    print_line(fmt::format("{}", fmt::join(shown, " ")));
  }
}

// Converts a word of the input to the number of a token: a number, or the token as it is shown.
class Numbers {
 public:
  Numbers(const Tokenizer& tokenizer, bool written) : tokenizer_(tokenizer), written_(written) {
    if (written) return;
    for (std::int32_t id = 0; id < tokenizer.size(); ++id) ids_.emplace(tokenizer.piece(id), id);
  }
  std::int32_t operator()(std::string_view word, const io::LineReader& reader) const {
    if (!written_) {
      const auto found = ids_.find(word);
      return found == ids_.end() ? tokenizer_.special().unknown : found->second;
    }
    std::int32_t id = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, id);
    HEED_CHECK(error == std::errc() && stop == end && id >= 0 && id < tokenizer_.size(),
               "[vocab] {}: {} is not the number of a token: they go from 0 to {}", reader.place(),
               io::in_quotes(word), tokenizer_.size() - 1);
    return id;
  }

 private:
  const Tokenizer& tokenizer_;
  bool written_;
  StringMap<std::int32_t> ids_;
};

void decode(const FilterFlags& flags) {
  const auto tokenizer = load_tokenizer(flags.vocab);
  const Numbers number_of(*tokenizer, flags.ids);
  io::LineReader reader(flags.file);
  for (std::string line; reader.next(line);) {
    std::vector<std::int32_t> ids;
    for (const std::string_view word : split_at_spaces(line)) {
      ids.push_back(number_of(word, reader));
    }
    print_line(tokenizer->decode(ids));
  }
}

void add_filter(CLI::App& vocab, const char* name, const char* help,
                void (*filter)(const FilterFlags&)) {
  CLI::App* const verb = vocab.add_subcommand(name, help);
  const auto flags = std::make_shared<FilterFlags>();
  verb->add_option("file", flags->file, "lines to read, plain or gzip; - is standard input")
      ->capture_default_str();
  verb->add_option("--vocab", flags->vocab, "the tokenizer")->required();
  verb->add_flag("--ids", flags->ids, "numbers instead of tokens");
  verb->callback([flags, filter] { filter(*flags); });
}

}  // namespace

void add_vocab_filters(CLI::App& vocab) {
  add_filter(vocab, "encode", "Cut lines of text into tokens", &encode);
  add_filter(vocab, "decode", "Turn lines of tokens into text", &decode);
}

void print_tokens(const std::string& path) {
  const auto tokenizer = load_tokenizer(path);
  for (std::int32_t id = 0; id < tokenizer->size(); ++id) fmt::print("{}\n", tokenizer->piece(id));
}

void print_counts(const std::string& path) {
  const auto tokenizer = load_tokenizer(path);
  const auto* const words = dynamic_cast<const Words*>(tokenizer.get());
  const auto* const subwords = dynamic_cast<const SubwordNmt*>(tokenizer.get());
  HEED_CHECK(words != nullptr || subwords != nullptr,
             "[vocab] {} is a {} tokenizer, which has no words to count", path, tokenizer->kind());
  fmt::print("{}",
             word_list_text(words != nullptr ? words->vocabulary() : subwords->vocabulary(), true));
}

}  // namespace heed::cli

#include "heed/text/sentence_piece_training.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/io/isolated.h"
#include "heed/io/lines.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"
#include "heed/text/vocabulary.h"

namespace heed {
namespace {

// SentencePiece cannot train on lines that contain its mark of an unknown character. Its mark of a
// space counts as a space.
constexpr char32_t kUnknownMark = 0x2585;
constexpr char32_t kSpaceMark = 0x2581;

// True if SentencePiece can learn from a line. Most of its normalisations drop U+FFFD, control
// characters and characters without width; a line of nothing else is empty for it.
bool is_usable(std::string_view line, const SentencePieceOptions& options) {
  if (line.size() > static_cast<std::size_t>(options.max_sentence_bytes)) return false;
  bool visible = false;
  for (const char32_t c : unicode::decode(line)) {
    if (c == kUnknownMark) return false;
    const unicode::Kind kind = unicode::kind_of(c);
    visible |= c != kSpaceMark && c != unicode::kReplacement && kind != unicode::Kind::separator &&
               kind != unicode::Kind::other;
  }
  return visible;
}

// Sentences for SentencePiece: all of them, or a sample. The sample is drawn here, because the
// random numbers of SentencePiece depend on what the process drew before.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const SentencePieceOptions& options) : options_(options) {}

  void add(std::string_view line) {
    if (!is_usable(line, options_)) return;
    const std::uint64_t n = seen_++;
    if (options_.sample == 0 || n < static_cast<std::uint64_t>(options_.sample)) {
      lines_.emplace_back(line);
      return;
    }
    // Reservoir sampling: line n is kept with probability sample / (n + 1).
    const auto bound = static_cast<std::uint32_t>(std::min<std::uint64_t>(n + 1, 0xffffffff));
    const std::uint32_t place = RandomStream{options_.seed, 0}.below(n, bound);
    if (place < static_cast<std::uint64_t>(options_.sample)) lines_[place] = line;
  }
  bool empty() const { return lines_.empty(); }

  bool done() const override { return next_ >= lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const SentencePieceOptions& options_;
  std::vector<std::string> lines_;
  std::uint64_t seen_ = 0;
  std::size_t next_ = 0;
};

template <typename E>
std::string name_of(E value) {
  return *io::detail::Codec<E>::write(value).string();
}

// A list for SentencePiece's flags: CSV, so that symbols may contain commas and quotes. Spaces are
// replaced by "▁", because SentencePiece has replaced them before it looks for symbols.
std::string csv(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += text.empty() ? "\"" : ",\"";
    for (const char c : item) text += c == '"' ? "\"\"" : c == ' ' ? "▁" : std::string(1, c);
    text += '"';
  }
  return text;
}

std::unordered_map<std::string, std::string> flags_of(const SentencePieceOptions& options) {
  std::unordered_map<std::string, std::string> flags = {
      {"model_type", name_of(options.model_type)},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"normalization_rule_name", name_of(options.normalization)},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"max_sentence_length", std::to_string(options.max_sentence_bytes)},
      {"unk_id", "0"},
      {"bos_id", "1"},
      {"eos_id", "2"},
      {"pad_id", "3"},
      // Each thread sums its own part of the text, so the result depends on the number of threads.
      {"num_threads", "16"},
      // Only fatal messages: a library does not print.
      {"minloglevel", "3"},
  };
  if (!options.user_symbols.empty()) flags["user_defined_symbols"] = csv(options.user_symbols);
  return flags;
}

// The integer after a phrase of a message.
std::optional<std::int64_t> number_after(std::string_view message, std::string_view phrase) {
  const std::size_t at = message.find(phrase);
  if (at == message.npos) return std::nullopt;
  std::int64_t number = 0;
  const char* const begin = message.data() + at + phrase.size();
  const auto [stop, error] = std::from_chars(begin, message.data() + message.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

[[noreturn]] void fail_training(std::string_view message, const SentencePieceOptions& options) {
  if (const auto most = number_after(message, "Please set it to a value <= ")) {
    fail("[sentencepiece] a vocabulary of {} is too large for this text: {} is the maximum",
         options.size, *most);
  }
  if (const auto least =
          number_after(message, fmt::format("required_chars. {} vs ", options.size))) {
    fail(
        "[sentencepiece] a vocabulary of {} is too small for the characters of this text: give at "
        "least {}, or lower character_coverage ({})",
        options.size, *least, options.character_coverage);
  }
  fail("[sentencepiece] the training failed: {}", message);
}

std::string train(Sentences& sentences, const SentencePieceOptions& options) {
  HEED_CHECK(!sentences.empty(),
             "[sentencepiece] there is no text to learn from: the lines have no visible character "
             "of valid UTF-8, or are longer than max_sentence_bytes ({})",
             options.max_sentence_bytes);
  const std::unordered_map<std::string, std::string> flags = flags_of(options);
  // SentencePiece calls exit() where it finds its own conditions violated, for example if nothing
  // is left of a text after normalisation. This must not end the process that uses heed.
  return io::run_isolated("[sentencepiece] the training", [&] {
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(flags, &sentences, &model);
    if (!status.ok()) fail_training(status.ToString(), options);
    return model;
  });
}

}  // namespace

void SentencePieceOptions::fields(io::Fields& field) {
  field("size", size, "number of pieces, including special ones", {.min = 5, .max = 10'000'000});
  field("model_type", model_type, "algorithm that chooses the pieces");
  field("character_coverage", character_coverage,
        "share of the characters of the text that get pieces; 1 for small alphabets",
        {.min = 0.98, .max = 1});
  field(
      "normalization", normalization,
      "normalisation of the text; nfkc turns Chinese commas into ASCII commas, identity does not");
  field("user_symbols", user_symbols, "pieces that are never split");
  field("byte_fallback", byte_fallback, "write unknown characters as bytes");
  field("sample", sample, "train on a random sample of this many sentences; 0: all", {.min = 0});
  field("max_sentence_bytes", max_sentence_bytes, "longer sentences are skipped",
        {.min = 1, .max = 1 << 30});
  field("seed", seed, "seed of the sample");
}

void SentencePieceOptions::validate() const {
  std::set<std::string_view> seen(kSpecialNames.begin(), kSpecialNames.end());
  for (const std::string& symbol : user_symbols) {
    HEED_CHECK(!symbol.empty() && !unicode::find_invalid(symbol) &&
                   symbol.find_first_of("\r\n") == symbol.npos,
               "[sentencepiece] {} cannot be a user symbol: it must be UTF-8 text on one line",
               io::in_quotes(symbol));
    HEED_CHECK(seen.insert(symbol).second,
               "[sentencepiece] the user symbol {} exists already: each must differ from the "
               "others and from {}",
               io::in_quotes(symbol), fmt::join(kSpecialNames, ", "));
  }
}

std::string train_sentence_piece(std::span<const std::filesystem::path> paths,
                                 const SentencePieceOptions& options) {
  options.validate();
  Sentences sentences(options);
  for (const std::filesystem::path& path : paths) {
    io::LineReader reader(path);
    for (std::string line; reader.next(line);) sentences.add(line);
  }
  return train(sentences, options);
}

std::string train_sentence_piece(std::span<const std::string> sentences,
                                 const SentencePieceOptions& options) {
  options.validate();
  Sentences usable(options);
  for (const std::string& sentence : sentences) usable.add(sentence);
  return train(usable, options);
}

}  // namespace heed

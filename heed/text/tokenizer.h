// What turns text into the numbers of a vocabulary and back. The kinds: SentencePiece models,
// subword-nmt BPE codes with a word list, plain word lists, characters.
//
//   const auto tokenizer = load_tokenizer("shared.model");
//   const std::vector<std::int32_t> ids = tokenizer->encode("A dog runs.");
//   tokenizer->decode(ids);  // "A dog runs."
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The numbers of the tokens that stand for no text. Models from elsewhere may lack some: begin
/// then has the number of end and end that of begin, padding (or all three) that of unknown. Padded
/// places are masked, so that any token will do there.
struct SpecialTokens {
  std::int32_t unknown = 0;
  std::int32_t begin = 1;
  std::int32_t end = 2;
  std::int32_t padding = 3;

  friend bool operator==(const SpecialTokens&, const SpecialTokens&) = default;
};

/// Text to tokens and back. Objects do not change once made: threads may share them.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// What the kind is called: "sentencepiece", "words", …
  virtual std::string_view kind() const { return "tokenizer"; }
  /// The tokens of a text, without begin and end; what the vocabulary lacks is unknown. Any text
  /// will do: bytes that are no UTF-8 are unknown too.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// The text of tokens; begin, end and padding stand for nothing. A number outside the vocabulary
  /// throws heed::Error.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  /// The number of tokens, special ones included.
  virtual std::int64_t size() const = 0;
  /// Which tokens are special.
  virtual SpecialTokens special() const = 0;
  /// A token as it is shown: "▁dog", "wor@@", "<unk>".
  virtual std::string piece(std::int32_t id) const = 0;
  /// Whether a token begins a word, unless the token before it continues: "▁dog", "wor@@", "ld".
  virtual bool begins_word(std::int32_t id) const = 0;
  /// Whether the word goes on in the next token whatever that is: "wor@@".
  virtual bool continues_word(std::int32_t) const { return false; }

  /// The names and contents of the files that load_tokenizer() reads this back from, the one to
  /// give it first: a checkpoint writes them among its own.
  struct File {
    std::string name;
    std::string content;
  };
  virtual std::vector<File> files() const = 0;
};

/// Reads a tokenizer from a file, plain or gzip; its kind is told by what is in it: a SentencePiece
/// model, a tokenizer file of heed, or a list of words (word_list.h).
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

/// The same from a file's content; `source` names it in messages.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string content, std::string_view source);

/// Writes the file that load_tokenizer() reads the same tokenizer from, whole or not at all.
void save_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& path);

/// The tokens of one word: those from begin up to, without, end.
struct WordSpan {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const WordSpan&, const WordSpan&) = default;
};

/// The words of a sentence of tokens, in order. Words are what white space parts; a text without
/// any, as Chinese is written, is one word. Begin, end and padding belong to none.
std::vector<WordSpan> word_spans(const Tokenizer& tokenizer, std::span<const std::int32_t> ids);

}  // namespace heed

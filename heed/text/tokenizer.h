// Tokenizers turn text into token ids and back. The kinds are: SentencePiece models, subword-nmt
// BPE codes with a word list, plain word lists, characters, and those of Hugging Face
// (heed/text/pipeline/hf_folder.h).
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

/// The ids of the tokens that stand for no text. Models from elsewhere may lack some of them. A
/// missing begin then has the id of end and a missing end that of begin; a missing padding (or all
/// three) has the id of unknown. Padded positions are masked, so any token may be used there.
struct SpecialTokens {
  std::int32_t unknown = 0;
  std::int32_t begin = 1;
  std::int32_t end = 2;
  std::int32_t padding = 3;

  friend bool operator==(const SpecialTokens&, const SpecialTokens&) = default;
};

/// A part of a text: the bytes [begin, end).
struct TextSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

/// The interface of tokenizers. They are immutable, so threads may share them.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The name of the kind: "sentencepiece", "words", …
  virtual std::string_view kind() const { return "tokenizer"; }
  /// The tokens of a text, without begin and end. Text that is not in the vocabulary becomes
  /// unknown, and so do bytes that are not UTF-8.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// The tokens of a text with the special tokens that the tokenizer's file puts around it.
  virtual std::vector<std::int32_t> encode_with_special(std::string_view text) const {
    return encode(text);
  }
  /// The text of tokens; begin, end and padding are skipped. An id outside the vocabulary throws
  /// heed::Error.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  /// The number of tokens, including special ones.
  virtual std::int64_t size() const = 0;
  /// The ids of the special tokens.
  virtual SpecialTokens special() const = 0;
  /// A token in printable form: "▁dog", "wor@@", "<unk>".
  virtual std::string piece(std::int32_t id) const = 0;
  /// True if a token begins a word, unless the token before it continues its word: "▁dog", "wor@@",
  /// "ld".
  virtual bool begins_word(std::int32_t id) const = 0;
  /// True if the word continues in the next token, whatever that is: "wor@@".
  virtual bool continues_word(std::int32_t) const { return false; }

  /// The files from which load_tokenizer() restores this tokenizer; the first is the one to load. A
  /// checkpoint contains them.
  struct File {
    std::string name;
    std::string content;
  };
  virtual std::vector<File> files() const = 0;
};

/// Reads a tokenizer from a file, plain or gzip. The content decides the kind: a SentencePiece
/// model, a heed tokenizer file, a tokenizer.json, or a list of words (word_list.h).
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

/// The same from a file's content; `source` names it in messages.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string content, std::string_view source);

/// Writes a file from which load_tokenizer() reads the same tokenizer, whole or not at all.
void save_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& path);

/// The tokens of one word: [begin, end).
struct WordSpan {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const WordSpan&, const WordSpan&) = default;
};

/// The words of a tokenized sentence, in order. White space separates words; a text without any,
/// such as Chinese, is one word. Begin, end and padding belong to no word.
std::vector<WordSpan> word_spans(const Tokenizer& tokenizer, std::span<const std::int32_t> ids);

}  // namespace heed

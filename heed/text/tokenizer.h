// What turns text into the numbers of a vocabulary and back. The kinds: SentencePiece models,
// subword-nmt BPE codes with a word list, plain word lists, characters.
//
//   const auto tokenizer = load_tokenizer("shared.model");
//   const std::vector<std::int32_t> ids = tokenizer->encode("A dog runs.");
//   tokenizer->decode(ids);  // "A dog runs."
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The numbers of the tokens that stand for no text.
struct SpecialTokens {
  std::int32_t unknown = 0;
  std::int32_t begin = 1;
  std::int32_t end = 2;
  std::int32_t padding = 3;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokens of a text, without begin and end; what the vocabulary lacks is unknown.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// The text of tokens; begin, end and padding stand for nothing.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  /// The number of tokens, special ones included.
  virtual std::int64_t size() const = 0;
  virtual SpecialTokens special() const = 0;
  /// A token as it is shown: "▁dog", "wor@@", "<unk>".
  virtual std::string piece(std::int32_t id) const = 0;
  /// Whether a token begins a word: what alignments of words are made of.
  virtual bool begins_word(std::int32_t id) const = 0;

  /// The names and contents of the files that load_tokenizer() reads this back from, the one to
  /// give it first: a checkpoint writes them among its own.
  struct File {
    std::string name;
    std::string content;
  };
  virtual std::vector<File> files() const = 0;
};

/// Reads a tokenizer from a file; its kind is told by what is in it.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

}  // namespace heed

// Tokenizers of Hugging Face as their file tokenizer.json describes them. A text passes through the
// parts of the pipeline in order: added tokens are found, the text between them is normalised and
// split into words, the model splits words into tokens, and the post-processor puts special tokens
// around them. Ids and offsets are those of the package `tokenizers`. Sections "truncation" and
// "padding" are ignored: heed batches sequences itself.
//
//   const auto tokenizer = HfTokenizer::load("tokenizer.json");
//   const Encoding encoding = tokenizer->encode_with_spans("A dog runs.");  // [CLS] a dog runs .
//   [SEP]
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/added_tokens.h"
#include "heed/text/pipeline/decoder.h"
#include "heed/text/pipeline/post_processor.h"
#include "heed/text/pipeline/pre_tokenizer.h"
#include "heed/text/pipeline/subword_model.h"
#include "heed/text/tokenizer.h"

namespace heed {

using pipeline::Encoding;

/// The texts of special tokens as the files beside tokenizer.json name them; "" if they do not.
struct SpecialNames {
  std::string unknown = {}, begin = {}, end = {}, padding = {};
};

/// A tokenizer made of the parts of a pipeline.
class HfTokenizer : public Tokenizer {
 public:
  /// Reads the content of a tokenizer.json, or of the file that files() gives; `source` names it in
  /// messages. Special tokens that `names` leaves open are found by the post-processor and by their
  /// usual names.
  static std::unique_ptr<HfTokenizer> parse(std::string content, std::string_view source,
                                            const SpecialNames& names = {});
  static std::unique_ptr<HfTokenizer> load(const std::filesystem::path& path,
                                           const SpecialNames& names = {});

  std::string_view kind() const override { return "huggingface"; }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::vector<std::int32_t> encode_with_special(std::string_view text) const override;
  std::string decode(std::span<const std::int32_t> ids) const override { return decode(ids, true); }
  std::int64_t size() const override { return size_; }
  SpecialTokens special() const override { return special_; }
  std::string piece(std::int32_t id) const override;
  bool begins_word(std::int32_t id) const override;
  bool continues_word(std::int32_t id) const override;
  std::vector<File> files() const override;

  /// The tokens of a text and the bytes of the text that each stands for. With `special`, the
  /// tokens that the model expects around it are added; they have an empty span at 0.
  Encoding encode_with_spans(std::string_view text, bool special = true) const;
  /// The same of two texts, of which the second has spans of its own and usually type 1.
  Encoding encode_pair(std::string_view first, std::string_view second, bool special = true) const;
  /// The text of tokens; with `skip_special` special tokens are left out.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special) const;
  /// The id of a token, added or of the model.
  std::optional<std::int32_t> id_of(std::string_view token) const;

 private:
  HfTokenizer() = default;
  void read(const pipeline::JsonNode& node);
  void find_special(const SpecialNames& names);
  pipeline::Sequence run(std::string_view text) const;
  Encoding join(std::vector<pipeline::Sequence> sequences, bool special) const;
  std::string_view token_text(std::int32_t id) const;

  std::string content_;  // of files()
  std::unique_ptr<const pipeline::Normalizer> normalizer_;
  std::unique_ptr<const pipeline::PreTokenizer> pre_tokenizer_;
  std::unique_ptr<const pipeline::SubwordModel> model_;
  std::unique_ptr<const pipeline::PostProcessor> post_processor_;
  std::unique_ptr<const pipeline::Decoder> decoder_;
  pipeline::AddedTokens added_;
  std::vector<pipeline::TokenSpace> spaces_;  // of each token of the model
  SpecialTokens special_;
  std::int32_t size_ = 0;
};

/// True if a text looks like tokenizer.json or like the file of HfTokenizer::files().
bool is_hf_tokenizer_text(std::string_view text);

}  // namespace heed

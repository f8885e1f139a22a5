#include "heed/text/pipeline/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

// Types of tokens in "tokenizer.ggml.token_type".
constexpr std::int64_t kNormalToken = 1, kControlToken = 3, kUserToken = 4, kUnusedToken = 5;

constexpr std::string_view kGptWordsJson =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";
constexpr std::string_view kGptBytesJson =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";
constexpr std::string_view kDigitsJson = R"({"type": "Digits", "individual_digits": true})";
constexpr std::string_view kQwenWords =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlamaWords =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekkenWords =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// How a byte-level tokenizer splits texts into words, by its name in "tokenizer.ggml.pre".
struct GgufSplitter {
  std::string_view name;
  std::string_view words = {};  // a pattern; without one those of GPT-2
  bool digits = false;          // each digit is a word
  bool composed = false;        // normal form NFC
  bool whole_words = false;     // a word of the vocabulary needs no merges
  bool begin = false;           // the begin token comes first unless the file says otherwise
};
constexpr GgufSplitter kGgufSplitters[] = {
    {.name = "gpt-2"},
    {.name = "smollm", .digits = true},
    {.name = "starcoder", .digits = true},
    {.name = "qwen2", .words = kQwenWords, .composed = true},
    {.name = "deepseek-r1-qwen", .words = kQwenWords, .composed = true},
    {.name = "llama-bpe", .words = kLlamaWords, .whole_words = true, .begin = true},
    {.name = "llama3", .words = kLlamaWords, .whole_words = true, .begin = true},
    {.name = "llama-v3", .words = kLlamaWords, .whole_words = true, .begin = true},
    {.name = "tekken", .words = kTekkenWords, .whole_words = true, .begin = true},
};

std::string splitter_json(const GgufSplitter& splitter) {
  std::string first = splitter.digits ? fmt::format("{}, ", kDigitsJson) : "";
  if (!splitter.words.empty()) {
    first +=
        fmt::format(R"({{"type": "Split", "pattern": {{"Regex": {}}}, "behavior": "Isolated", )"
                    R"("invert": false}}, )",
                    io::quote_json(splitter.words));
  }
  return fmt::format(R"({{"type": "Sequence", "pretokenizers": [{}{}]}})", first,
                     splitter.words.empty() ? kGptWordsJson : kGptBytesJson);
}

class GgufVocabulary {
 public:
  GgufVocabulary(const io::GgufMetadata& metadata, std::string_view source)
      : metadata_(metadata), source_(source) {
    const auto tokens = metadata.texts("tokenizer.ggml.tokens");
    HEED_CHECK(tokens, "[tokenizer] {} has no \"tokenizer.ggml.tokens\": the file has no tokenizer",
               source);
    tokens_ = *tokens;
    types_ = metadata.integers("tokenizer.ggml.token_type")
                 .value_or(std::vector<std::int64_t>(tokens_.size(), kNormalToken));
    check_size("token_type", types_.size());
  }

  const std::vector<std::string_view>& tokens() const { return tokens_; }
  bool is(std::size_t id, std::int64_t type) const { return types_[id] == type; }
  void check_size(std::string_view list, std::size_t size) const {
    HEED_CHECK(size == tokens_.size(),
               "[tokenizer] {}: \"tokenizer.ggml.{}\" has {} entries, and there are {} tokens",
               source_, list, size, tokens_.size());
  }
  /// The token whose id has this key, "bos_token_id" for instance; none: the file does not say.
  std::optional<std::size_t> special(std::string_view key) const {
    const auto id = metadata_.integer(fmt::format("tokenizer.ggml.{}", key));
    if (!id) return std::nullopt;
    HEED_CHECK(*id >= 0 && *id < std::ssize(tokens_),
               "[tokenizer] {}: \"tokenizer.ggml.{}\" is {}: there are {} tokens", source_, key,
               *id, tokens_.size());
    return static_cast<std::size_t>(*id);
  }
  std::string special_text(std::string_view key) const {
    const auto id = special(key);
    return id ? std::string(tokens_[*id]) : "";
  }
  bool flag(std::string_view key, bool otherwise) const {
    return metadata_.boolean(fmt::format("tokenizer.ggml.{}", key)).value_or(otherwise);
  }

  // {"token": id, …}; tokens that only fill the matrix of embeddings are left out.
  std::string vocab_json() const {
    std::string json = "{";
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      if (is(id, kUnusedToken)) continue;
      fmt::format_to(std::back_inserter(json), "{}{}: {}", json.size() > 1 ? ", " : "",
                     io::quote_json(tokens_[id]), id);
    }
    return json += "}";
  }

  // Control tokens are special; tokens that users have defined are found in texts, too.
  std::string added_json() const {
    std::string json = "[";
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      if (!is(id, kControlToken) && !is(id, kUserToken)) continue;
      fmt::format_to(std::back_inserter(json),
                     R"({}{{"id": {}, "content": {}, "single_word": false, "lstrip": false, )"
                     R"("rstrip": false, "normalized": false, "special": {}}})",
                     json.size() > 1 ? ", " : "", id, io::quote_json(tokens_[id]),
                     is(id, kControlToken));
    }
    return json += "]";
  }

  // The post-processor, or null.
  std::string processor_json(bool begins) const {
    const auto begin = special("bos_token_id");
    if (!begin || !flag("add_bos_token", begins)) return "null";
    const std::string name = io::quote_json(tokens_[*begin]);
    const std::string first =
        fmt::format(R"({{"SpecialToken": {{"id": {}, "type_id": 0}}}})", name);
    return fmt::format(
        R"({{"type": "TemplateProcessing", )"
        R"("single": [{0}, {{"Sequence": {{"id": "A", "type_id": 0}}}}], )"
        R"("pair": [{0}, {{"Sequence": {{"id": "A", "type_id": 0}}}}, )"
        R"({{"Sequence": {{"id": "B", "type_id": 1}}}}], )"
        R"("special_tokens": {{{1}: {{"id": {1}, "ids": [{2}], "tokens": [{1}]}}}}}})",
        first, name, *begin);
  }

 private:
  const io::GgufMetadata& metadata_;
  std::string_view source_;
  std::vector<std::string_view> tokens_;
  std::vector<std::int64_t> types_;
};

const GgufSplitter& find_splitter(std::string_view name, std::string_view source) {
  std::vector<std::string_view> known;
  for (const GgufSplitter& splitter : kGgufSplitters) {
    if (splitter.name == name) return splitter;
    known.push_back(splitter.name);
  }
  fail(
      "[tokenizer] {}: heed does not know the pre-tokenizer {} (\"tokenizer.ggml.pre\"): it knows "
      "{}",
      source, io::in_quotes(name), fmt::join(known, ", "));
}

std::string byte_level_json(const GgufVocabulary& vocabulary, const io::GgufMetadata& metadata,
                            std::string_view source) {
  const GgufSplitter& splitter =
      find_splitter(metadata.text("tokenizer.ggml.pre").value_or(""), source);
  const auto merges = metadata.texts("tokenizer.ggml.merges");
  HEED_CHECK(merges, "[tokenizer] {} has no \"tokenizer.ggml.merges\"", source);
  std::string list;
  for (const std::string_view merge : *merges) {
    fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ", ",
                   io::quote_json(merge));
  }
  return fmt::format(
      R"({{"added_tokens": {}, "normalizer": {}, "pre_tokenizer": {}, "post_processor": {}, )"
      R"("decoder": {}, "model": {{"type": "BPE", "ignore_merges": {}, "vocab": {}, )"
      R"("merges": [{}]}}}})",
      vocabulary.added_json(), splitter.composed ? R"({"type": "NFC"})" : "null",
      splitter_json(splitter), vocabulary.processor_json(splitter.begin), kGptBytesJson,
      splitter.whole_words, vocabulary.vocab_json(), list);
}

// The merges of a SentencePiece model: all pairs of tokens that are a token together, those with
// the best scores first.
std::string scored_merges_json(const GgufVocabulary& vocabulary,
                               const std::vector<double>& scores) {
  struct Merge {
    double score;
    std::uint32_t token, left_bytes;
  };
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < vocabulary.tokens().size(); ++id) {
    if (vocabulary.is(id, kNormalToken)) ids.emplace(vocabulary.tokens()[id], id);
  }
  std::vector<Merge> merges;
  for (const auto& [token, id] : ids) {
    for (std::size_t at = unicode::front(token).bytes; at < token.size();
         at += unicode::front(token.substr(at)).bytes) {
      if (ids.contains(token.substr(0, at)) && ids.contains(token.substr(at))) {
        merges.push_back(
            {scores[id], static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(at)});
      }
    }
  }
  std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.token != b.token ? a.token < b.token : a.left_bytes < b.left_bytes;
  });
  std::string list;
  for (const Merge& merge : merges) {
    const std::string_view token = vocabulary.tokens()[merge.token];
    fmt::format_to(std::back_inserter(list), "{}[{}, {}]", list.empty() ? "" : ", ",
                   io::quote_json(token.substr(0, merge.left_bytes)),
                   io::quote_json(token.substr(merge.left_bytes)));
  }
  return list;
}

std::string sentence_piece_json(const GgufVocabulary& vocabulary, const io::GgufMetadata& metadata,
                                std::string_view source) {
  const auto scores = metadata.numbers("tokenizer.ggml.scores");
  HEED_CHECK(scores, "[tokenizer] {} has no \"tokenizer.ggml.scores\"", source);
  vocabulary.check_size("scores", scores->size());
  HEED_CHECK(std::ranges::none_of(*scores, [](double score) { return std::isnan(score); }),
             "[tokenizer] {}: \"tokenizer.ggml.scores\" has a value that is not a number", source);
  const bool prefix = vocabulary.flag("add_space_prefix", true);
  const std::string unknown = vocabulary.special_text("unknown_token_id");
  return fmt::format(
      R"({{"added_tokens": {}, "normalizer": {{"type": "Sequence", "normalizers": [{}{}]}}, )"
      R"("pre_tokenizer": null, "post_processor": {}, )"
      R"("decoder": {{"type": "Sequence", "decoders": [{}, {{"type": "ByteFallback"}}, )"
      R"({{"type": "Fuse"}}{}]}}, )"
      R"("model": {{"type": "BPE", "byte_fallback": true, "fuse_unk": true, "unk_token": {}, )"
      R"("vocab": {}, "merges": [{}]}}}})",
      vocabulary.added_json(), prefix ? R"({"type": "Prepend", "prepend": "▁"}, )" : "",
      R"({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})",
      vocabulary.processor_json(true),
      R"({"type": "Replace", "pattern": {"String": "▁"}, "content": " "})",
      prefix ? R"(, {"type": "Strip", "content": " ", "start": 1, "stop": 0})" : "",
      unknown.empty() ? "null" : io::quote_json(unknown), vocabulary.vocab_json(),
      scored_merges_json(vocabulary, *scores));
}

}  // namespace

std::string gguf_tokenizer_json(const io::GgufMetadata& metadata, std::string_view source) {
  const GgufVocabulary vocabulary(metadata, source);
  const std::string_view model = metadata.text("tokenizer.ggml.model").value_or("");
  if (model == "gpt2") return byte_level_json(vocabulary, metadata, source);
  HEED_CHECK(model == "llama",
             "[tokenizer] {}: heed does not know the tokenizer {} (\"tokenizer.ggml.model\"): it "
             "knows gpt2 (byte-level BPE) and llama (SentencePiece BPE)",
             source, io::in_quotes(model));
  return sentence_piece_json(vocabulary, metadata, source);
}

}  // namespace heed::pipeline

namespace heed {

std::shared_ptr<const HfTokenizer> read_gguf_tokenizer(const io::GgufMetadata& metadata,
                                                       std::string_view source) {
  const pipeline::GgufVocabulary vocabulary(metadata, source);
  const SpecialNames names{.unknown = vocabulary.special_text("unknown_token_id"),
                           .begin = vocabulary.special_text("bos_token_id"),
                           .end = vocabulary.special_text("eos_token_id"),
                           .padding = vocabulary.special_text("padding_token_id")};
  return HfTokenizer::parse(pipeline::gguf_tokenizer_json(metadata, source), source, names);
}

}  // namespace heed

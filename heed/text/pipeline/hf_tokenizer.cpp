#include "heed/text/pipeline/hf_tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/input.h"
#include "heed/io/json.h"

namespace heed {
namespace {

constexpr std::size_t kMaxHfBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;  // offsets have 32 bits

// heed's own file is this, the four special ids, and tokenizer.json as it was.
constexpr std::string_view kHfHead = R"({"heed_tokenizer": 1, "kind": "huggingface", "special": )";

using Names = std::array<std::string_view, 6>;
constexpr Names kUnknownNames = {"<unk>", "[UNK]", "<UNK>", "<|unk|>", "", ""};
constexpr Names kBeginNames = {"<s>", "[CLS]", "<bos>", "<|begin_of_text|>", "<|startoftext|>", ""};
constexpr Names kEndNames = {"</s>",    "[SEP]",         "<eos>",
                             "<|eot|>", "<|endoftext|>", "<|end_of_text|>"};
constexpr Names kPaddingNames = {"<pad>", "[PAD]", "<PAD>", "<|pad|>", "<|padding|>", ""};

}  // namespace

bool is_hf_tokenizer_text(std::string_view text) {
  if (text.starts_with(kHfHead)) return true;
  return text.starts_with('{') && text.find("\"heed_tokenizer\"") == text.npos &&
         text.find("\"added_tokens\"") != text.npos && text.find("\"model\"") != text.npos;
}

std::unique_ptr<HfTokenizer> HfTokenizer::load(const std::filesystem::path& path,
                                               const SpecialNames& names) {
  return parse(io::read_input(path, kMaxHfBytes), path.string(), names);
}

std::unique_ptr<HfTokenizer> HfTokenizer::parse(std::string content, std::string_view source,
                                                const SpecialNames& names) {
  const io::Value value = io::parse_json(content, source);
  const pipeline::JsonNode root(value, source);
  std::unique_ptr<HfTokenizer> made(new HfTokenizer());
  if (!content.starts_with(kHfHead)) {
    made->read(root);
    made->find_special(names);
    const SpecialTokens& special = made->special_;
    made->content_ =
        fmt::format("{}[{}, {}, {}, {}], \"tokenizer\": {}}}", kHfHead, special.unknown,
                    special.begin, special.end, special.padding, content);
    return made;
  }
  made->read(root.at("tokenizer"));
  const pipeline::JsonNode ids = root.at("special");
  if (ids.values().size() != 4) ids.refuse("four ids");
  const auto id = [&](std::size_t i) {
    return static_cast<std::int32_t>(
        ids.element(ids.values()[i], i).integer(0, std::int64_t{made->size_} - 1));
  };
  made->special_ = {id(0), id(1), id(2), id(3)};
  made->content_ = std::move(content);
  return made;
}

void HfTokenizer::read(const pipeline::JsonNode& node) {
  model_ = pipeline::read_model(node.at("model"));
  if (const auto part = node.find("normalizer")) normalizer_ = pipeline::read_normalizer(*part);
  if (const auto part = node.find("pre_tokenizer")) {
    pre_tokenizer_ = pipeline::read_pre_tokenizer(*part);
  }
  if (const auto part = node.find("post_processor")) {
    post_processor_ = pipeline::read_post_processor(*part);
  }
  if (const auto part = node.find("decoder")) decoder_ = pipeline::read_decoder(*part);
  if (const auto part = node.find("added_tokens")) {
    added_ = pipeline::AddedTokens(*part, model_->tokens(), normalizer_.get());
  }
  size_ = std::max(model_->tokens().limit(), added_.limit());
  HEED_CHECK(size_ > 0, "[tokenizer] {} has no tokens", node.where());
  if (post_processor_ == nullptr) return;
  HEED_CHECK(post_processor_->greatest() < size_,
             "[tokenizer] {}: post_processor adds token {}; there are {} tokens", node.where(),
             post_processor_->greatest(), size_);
  for (std::int32_t token = 0; token < model_->tokens().limit(); ++token) {
    spaces_.push_back(pipeline::spaces_of(model_->tokens().text(token)));
  }
}

void HfTokenizer::find_special(const SpecialNames& names) {
  const auto find = [&](const std::string& given, const std::vector<std::int32_t>& around,
                        const Names& usual) -> std::optional<std::int32_t> {
    if (!given.empty()) return id_of(given);
    if (!around.empty()) return around.back();
    // A vocabulary of text may have "<s>" by chance; special tokens are added ones.
    for (const std::string_view name : usual) {
      if (name.empty()) continue;
      const auto id = added_.tokens().empty() ? id_of(name) : added_.id_of(name);
      if (id) return id;
    }
    return std::nullopt;
  };
  using Ids = std::vector<std::int32_t>;
  const Ids before = post_processor_ == nullptr ? Ids() : post_processor_->before();
  const Ids after = post_processor_ == nullptr ? Ids() : post_processor_->after();
  const auto end = find(names.end, after, kEndNames);
  const auto begin = find(names.begin, before.empty() ? before : Ids{before.front()}, kBeginNames);
  auto unknown = names.unknown.empty() ? model_->unknown() : std::nullopt;
  if (!unknown) unknown = find(names.unknown, {}, kUnknownNames);
  special_.unknown = unknown.value_or(end.value_or(begin.value_or(0)));
  special_.begin = begin.value_or(end.value_or(special_.unknown));
  special_.end = end.value_or(special_.begin);
  special_.padding = find(names.padding, {}, kPaddingNames).value_or(special_.unknown);
}

std::optional<std::int32_t> HfTokenizer::id_of(std::string_view token) const {
  const auto added = added_.id_of(token);
  return added ? added : model_->tokens().id_of(token);
}

std::string_view HfTokenizer::token_text(std::int32_t id) const {
  const pipeline::AddedToken* const added = added_.find(id);
  return added != nullptr ? std::string_view(added->content) : model_->tokens().text(id);
}

pipeline::Sequence HfTokenizer::run(std::string_view text) const {
  HEED_CHECK(text.size() <= kMaxTextBytes, "[tokenizer] a text of {} bytes: the limit is {}",
             text.size(), kMaxTextBytes);
  pipeline::Pieces pieces = added_.split(text, normalizer_.get());
  if (pre_tokenizer_ != nullptr) pre_tokenizer_->split(pieces);
  pipeline::Sequence sequence;
  sequence.text = text;
  std::vector<pipeline::Subword> tokens;
  for (const pipeline::Piece& piece : pieces.pieces) {
    const std::string_view word = pieces.text(piece);
    if (piece.token >= 0) {
      sequence.encoding.add(piece.token, pieces.span(piece.begin, piece.end), 0);
      if (post_processor_ != nullptr) sequence.spaces.push_back(pipeline::spaces_of(word));
      continue;
    }
    tokens.clear();
    model_->tokenize(word, tokens);
    for (const pipeline::Subword& token : tokens) {
      // A suffix that was added to the word may reach beyond its end.
      const bool inside = token.begin < token.end && token.end <= word.size();
      const TextSpan span = inside ? pieces.span(piece.begin + token.begin, piece.begin + token.end)
                                   : TextSpan{token.begin, token.end};
      sequence.encoding.add(token.id, span, 0);
      if (post_processor_ != nullptr) {
        sequence.spaces.push_back(spaces_[static_cast<std::size_t>(token.id)]);
      }
    }
  }
  return sequence;
}

Encoding HfTokenizer::join(std::vector<pipeline::Sequence> sequences, bool special) const {
  if (post_processor_ != nullptr) post_processor_->process(sequences, special);
  Encoding joined = std::move(sequences.front().encoding);
  for (std::size_t i = 1; i < sequences.size(); ++i) {
    const Encoding& other = sequences[i].encoding;
    for (std::size_t j = 0; j < other.ids.size(); ++j) {
      joined.add(other.ids[j], other.spans[j], static_cast<std::int32_t>(i));
    }
  }
  return joined;
}

Encoding HfTokenizer::encode_with_spans(std::string_view text, bool special) const {
  std::vector<pipeline::Sequence> sequences;
  sequences.push_back(run(text));
  return join(std::move(sequences), special);
}

Encoding HfTokenizer::encode_pair(std::string_view first, std::string_view second,
                                  bool special) const {
  std::vector<pipeline::Sequence> sequences;
  sequences.push_back(run(first));
  sequences.push_back(run(second));
  return join(std::move(sequences), special);
}

std::vector<std::int32_t> HfTokenizer::encode(std::string_view text) const {
  return run(text).encoding.ids;
}

std::vector<std::int32_t> HfTokenizer::encode_with_special(std::string_view text) const {
  return encode_with_spans(text, true).ids;
}

std::string HfTokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const std::int32_t id : ids) {
    HEED_CHECK(id >= 0 && id < size_, "[tokenizer] there is no token {}: they go from 0 to {}", id,
               size_ - 1);
    const bool exists = added_.find(id) != nullptr || model_->tokens().contains(id);
    if (!exists || (skip_special && added_.is_special(id))) continue;
    tokens.emplace_back(token_text(id));
  }
  if (decoder_ == nullptr) return fmt::format("{}", fmt::join(tokens, " "));
  decoder_->decode(tokens);
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

std::string HfTokenizer::piece(std::int32_t id) const {
  HEED_CHECK(id >= 0 && id < size_, "[tokenizer] there is no token {}: they go from 0 to {}", id,
             size_ - 1);
  return std::string(token_text(id));
}

bool HfTokenizer::begins_word(std::int32_t id) const {
  if (added_.find(id) != nullptr) return true;
  const pipeline::WordMarks marks = model_->marks();
  const std::string_view text = token_text(id);
  if (!marks.prefix.empty()) return !text.starts_with(marks.prefix);
  if (!marks.suffix.empty()) return true;
  return text.starts_with("▁") || text.starts_with("Ġ") || text.starts_with("Ċ");
}

bool HfTokenizer::continues_word(std::int32_t id) const {
  const std::string_view suffix = model_->marks().suffix;
  return !suffix.empty() && added_.find(id) == nullptr && !token_text(id).ends_with(suffix);
}

std::vector<Tokenizer::File> HfTokenizer::files() const {
  return {{"tokenizer.heed.json", content_}};
}

}  // namespace heed

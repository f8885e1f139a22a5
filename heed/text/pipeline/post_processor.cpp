#include "heed/text/pipeline/post_processor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/pipeline/token_table.h"
#include "heed/text/unicode.h"
#include "heed/text/unicode_forms.h"

namespace heed::pipeline {
namespace {

constexpr char32_t kByteSpace = 0x120;  // "Ġ", the space of byte-level BPE

std::int32_t read_token_id(const JsonNode& node) {
  return static_cast<std::int32_t>(node.integer(0, TokenTable::kMaxId));
}

std::uint32_t skip_characters(std::string_view text, std::uint32_t at, std::uint32_t count) {
  for (; count > 0 && at < text.size(); --count) {
    at += static_cast<std::uint32_t>(unicode::front(text.substr(at)).bytes);
  }
  return at;
}

// The place `count` characters before; nothing is moved if there are fewer.
std::uint32_t back_characters(std::string_view text, std::uint32_t at, std::uint32_t count) {
  std::uint32_t place = at;
  for (; count > 0; --count) {
    if (place == 0) return at;
    --place;
    while (place > 0 && (static_cast<unsigned char>(text[place]) & 0xC0) == 0x80) --place;
  }
  return place;
}

// Takes white space out of the spans of byte-level tokens. A single space at the beginning of the
// text stays if the pre-tokenizer may have added it.
void trim_spans(Sequence& sequence, bool has_prefix_space) {
  for (std::size_t i = 0; i < sequence.spaces.size(); ++i) {
    TokenSpace space = sequence.spaces[i];
    TextSpan& span = sequence.encoding.spans[i];
    if (space.left > 0) {
      const bool is_first = i == 0 || span.begin == 0;
      if (is_first && has_prefix_space && space.left == 1) space.left = 0;
      span.begin = std::min(skip_characters(sequence.text, span.begin, space.left), span.end);
    }
    if (space.right > 0) {
      span.end = std::max(back_characters(sequence.text, span.end, space.right), span.begin);
    }
  }
}

// A part of a template: special tokens, or a sequence.
struct TemplatePart {
  std::vector<std::int32_t> ids;
  int sequence = -1;  // 0, 1, or -1 for special tokens
  std::int32_t type = 0;
};
using TemplateParts = std::vector<TemplatePart>;

class TemplateProcessor final : public PostProcessor {
 public:
  TemplateProcessor(TemplateParts single, TemplateParts pair)
      : single_(std::move(single)), pair_(std::move(pair)) {}

  void process(std::vector<Sequence>& sequences, bool special) const override {
    const TemplateParts& parts = sequences.size() > 1 ? pair_ : single_;
    Sequence joined;
    joined.text = sequences.front().text;
    for (const TemplatePart& part : parts) {
      if (part.sequence < 0) {
        for (const std::int32_t id : special ? part.ids : std::vector<std::int32_t>()) {
          joined.encoding.add(id, {}, part.type);
          joined.spaces.push_back({});
        }
        continue;
      }
      const Sequence& from = sequences[static_cast<std::size_t>(part.sequence)];
      for (std::size_t i = 0; i < from.encoding.ids.size(); ++i) {
        joined.encoding.add(from.encoding.ids[i], from.encoding.spans[i], part.type);
      }
      joined.spaces.insert(joined.spaces.end(), from.spaces.begin(), from.spaces.end());
    }
    sequences.assign(1, std::move(joined));
  }
  std::vector<std::int32_t> before() const override { return specials(true); }
  std::vector<std::int32_t> after() const override { return specials(false); }
  std::int32_t greatest() const override {
    std::int32_t id = -1;
    for (const TemplateParts* const parts : {&single_, &pair_}) {
      for (const TemplatePart& part : *parts) {
        for (const std::int32_t other : part.ids) id = std::max(id, other);
      }
    }
    return id;
  }

 private:
  std::vector<std::int32_t> specials(bool before) const {
    std::vector<std::int32_t> ids;
    bool is_before = true;
    for (const TemplatePart& part : single_) {
      if (part.sequence >= 0) {
        is_before = false;
      } else if (is_before == before) {
        ids.insert(ids.end(), part.ids.begin(), part.ids.end());
      }
    }
    return ids;
  }

  TemplateParts single_, pair_;
};

TemplateParts read_template(const JsonNode& node, const JsonNode* specials, int sequences) {
  TemplateParts parts;
  for (const JsonNode& element : node.list()) {
    TemplatePart part;
    if (const auto special = element.find("SpecialToken")) {
      const std::string& name = special->at("id").text();
      const auto known = specials != nullptr ? specials->find(name) : std::nullopt;
      HEED_CHECK(known.has_value(), "[tokenizer] {} is {}, which special_tokens lacks",
                 special->where(), io::in_quotes(name));
      for (const JsonNode& id : known->at("ids").list()) part.ids.push_back(read_token_id(id));
      part.type = static_cast<std::int32_t>(special->at("type_id").integer(0, 1 << 20));
    } else if (const auto sequence = element.find("Sequence")) {
      const std::string& name = sequence->at("id").text();
      part.sequence = name == "A" ? 0 : name == "B" ? 1 : -1;
      if (part.sequence < 0 || part.sequence >= sequences) {
        sequence->at("id").refuse(sequences > 1 ? "\"A\" or \"B\"" : "\"A\"");
      }
      part.type = static_cast<std::int32_t>(sequence->at("type_id").integer(0, 1 << 20));
    } else {
      element.refuse("\"SpecialToken\" or \"Sequence\"");
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::unique_ptr<const PostProcessor> read_template_processing(const JsonNode& node) {
  const auto specials = node.find("special_tokens");
  const JsonNode* const table = specials ? &*specials : nullptr;
  TemplateParts single = read_template(node.at("single"), table, 1);
  const auto pair = node.find("pair");
  TemplateParts both = {{{}, 0, 0}, {{}, 1, 1}};
  if (pair) both = read_template(*pair, table, 2);
  return std::make_unique<TemplateProcessor>(std::move(single), std::move(both));
}

// BERT's and RoBERTa's templates. [CLS] a [SEP] b [SEP], <s> a </s></s> b </s>.
std::unique_ptr<const PostProcessor> fixed_template(const JsonNode& node, bool roberta) {
  const auto token = [&](std::string_view key) {
    const JsonNode pair = node.at(key);
    const std::vector<JsonNode> parts = pair.list();
    if (parts.size() != 2) pair.refuse("a token and its id");
    return read_token_id(parts[1]);
  };
  const std::int32_t begin = token("cls"), end = token("sep"), second = roberta ? 0 : 1;
  const TemplateParts single = {{{begin}, -1, 0}, {{}, 0, 0}, {{end}, -1, 0}};
  TemplateParts pair = single;
  if (roberta) pair.push_back({{end}, -1, 0});
  pair.push_back({{}, 1, second});
  pair.push_back({{end}, -1, second});
  return std::make_unique<TemplateProcessor>(single, std::move(pair));
}

// Trims spans, then joins by a template if there is one.
class TrimProcessor final : public PostProcessor {
 public:
  TrimProcessor(const JsonNode& node, std::unique_ptr<const PostProcessor> then)
      : trim_(node.flag("trim_offsets", true)),
        prefix_(node.flag("add_prefix_space", true)),
        then_(std::move(then)) {}

  void process(std::vector<Sequence>& sequences, bool special) const override {
    if (trim_) {
      for (Sequence& sequence : sequences) trim_spans(sequence, prefix_);
    }
    if (then_ != nullptr) then_->process(sequences, special);
  }
  std::vector<std::int32_t> before() const override {
    return then_ == nullptr ? std::vector<std::int32_t>() : then_->before();
  }
  std::vector<std::int32_t> after() const override {
    return then_ == nullptr ? std::vector<std::int32_t>() : then_->after();
  }
  std::int32_t greatest() const override { return then_ == nullptr ? -1 : then_->greatest(); }

 private:
  bool trim_, prefix_;
  std::unique_ptr<const PostProcessor> then_;
};

class ProcessorSequence final : public PostProcessor {
 public:
  explicit ProcessorSequence(std::vector<std::unique_ptr<const PostProcessor>> steps)
      : steps_(std::move(steps)) {}
  void process(std::vector<Sequence>& sequences, bool special) const override {
    for (const auto& step : steps_) step->process(sequences, special);
  }
  std::vector<std::int32_t> before() const override { return all(&PostProcessor::before); }
  std::vector<std::int32_t> after() const override { return all(&PostProcessor::after); }
  std::int32_t greatest() const override {
    std::int32_t id = -1;
    for (const auto& step : steps_) id = std::max(id, step->greatest());
    return id;
  }

 private:
  using Ids = std::vector<std::int32_t> (PostProcessor::*)() const;
  std::vector<std::int32_t> all(Ids ids_of) const {
    std::vector<std::int32_t> all;
    for (const auto& step : steps_) {
      const std::vector<std::int32_t> ids = ((*step).*ids_of)();
      all.insert(all.end(), ids.begin(), ids.end());
    }
    return all;
  }

  std::vector<std::unique_ptr<const PostProcessor>> steps_;
};

}  // namespace

TokenSpace spaces_of(std::string_view token) {
  TokenSpace space;
  std::uint32_t count = 0, run = 0;
  for (; !token.empty(); ++count) {
    const unicode::CodePoint point = unicode::front(token);
    const bool is_space = point.value == kByteSpace || unicode::is_white_space(point.value);
    run = is_space ? run + 1 : 0;
    if (run == count + 1) space.left = run;
    token.remove_prefix(point.bytes);
  }
  space.right = run;
  return space;
}

std::unique_ptr<const PostProcessor> read_post_processor(const JsonNode& node) {
  const std::string& type = node.type();
  if (type == "TemplateProcessing") return read_template_processing(node);
  if (type == "BertProcessing") return fixed_template(node, false);
  if (type == "RobertaProcessing") {
    return std::make_unique<TrimProcessor>(node, fixed_template(node, true));
  }
  if (type == "ByteLevel") return std::make_unique<TrimProcessor>(node, nullptr);
  if (type == "Sequence") {
    std::vector<std::unique_ptr<const PostProcessor>> steps;
    for (const JsonNode& step : node.at("processors").list()) {
      steps.push_back(read_post_processor(step));
    }
    return std::make_unique<ProcessorSequence>(std::move(steps));
  }
  node.at("type").refuse(
      "a post-processor: TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or "
      "Sequence");
}

}  // namespace heed::pipeline

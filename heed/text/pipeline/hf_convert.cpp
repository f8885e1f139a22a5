#include "heed/text/pipeline/hf_convert.h"

#include <optional>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/text/pipeline/base64.h"
#include "heed/text/pipeline/json_node.h"
#include "heed/text/pipeline/token_table.h"
#include "heed/text/unicode.h"
#include "heed/text/unicode_forms.h"

namespace heed::pipeline {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view without_end_space(std::string_view line) {
  while (!line.empty()) {
    std::size_t last = line.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(line[last]) & 0xC0) == 0x80) --last;
    if (!unicode::is_white_space(unicode::front(line.substr(last)).value)) break;
    line = line.substr(0, last);
  }
  return line;
}

std::string special_json(std::string_view content, std::int64_t id, bool left_strip = false) {
  return fmt::format(
      R"({{"id": {}, "content": {}, "single_word": false, "lstrip": {}, "rstrip": false, )"
      R"("normalized": false, "special": true}})",
      id, io::quote_json(content), left_strip);
}

// The added tokens that a vocabulary has of some names.
std::string specials_json(const TokenTable& tokens, const std::vector<std::string_view>& names) {
  std::vector<std::string> all;
  for (const std::string_view name : names) {
    if (const auto id = tokens.id_of(name)) {
      all.push_back(special_json(name, *id, name == "<mask>"));
    }
  }
  return fmt::format("[{}]", fmt::join(all, ", "));
}

// begin A end, and for pairs begin A end B end, or as fairseq does it begin A end end B end; the
// parts that are "" are left out.
std::string template_json(const TokenTable& tokens, std::string_view begin, std::string_view end,
                          bool doubled) {
  std::vector<std::string> specials;
  const auto part = [&](std::string_view name, int type) {
    return name.empty() ? ""
                        : fmt::format(R"({{"SpecialToken": {{"id": {}, "type_id": {}}}}}, )",
                                      io::quote_json(name), type);
  };
  for (const std::string_view name : {begin, begin == end ? std::string_view() : end}) {
    if (name.empty()) continue;
    const auto id = tokens.id_of(name);
    HEED_CHECK(id.has_value(), "[tokenizer] the vocabulary lacks the special token {}",
               io::in_quotes(name));
    specials.push_back(fmt::format(R"({0}: {{"id": {0}, "ids": [{1}], "tokens": [{0}]}})",
                                   io::quote_json(name), *id));
  }
  const auto sequence = [](char name, int type) {
    return fmt::format(R"({{"Sequence": {{"id": "{}", "type_id": {}}}}}, )", name, type);
  };
  const auto list = [](std::string parts) {
    parts.resize(parts.size() - 2);  // the last comma
    return parts;
  };
  const int second = doubled ? 0 : 1;
  const std::string single = part(begin, 0) + sequence('A', 0) + part(end, 0);
  const std::string pair =
      single + (doubled ? part(end, 0) : "") + sequence('B', second) + part(end, second);
  return fmt::format(
      R"({{"type": "TemplateProcessing", "single": [{}], "pair": [{}], "special_tokens": {{{}}}}})",
      list(single), list(pair), fmt::join(specials, ", "));
}

std::string vocab_json_of(const TokenTable& tokens) {
  std::vector<std::string> members;
  for (std::int32_t id = 0; id < tokens.limit(); ++id) {
    if (tokens.id_of(tokens.text(id)) == id) {
      members.push_back(fmt::format("{}: {}", io::quote_json(tokens.text(id)), id));
    }
  }
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

constexpr std::string_view kMetaspaceJson =
    R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})";

// A unigram model with SentencePiece's rules.
std::string unigram_json(const std::vector<SpmFile::Piece>& pieces, const SpmFile& model,
                         std::int64_t unknown, std::string_view added, std::string_view processor) {
  HEED_CHECK(model.model == SpmFile::Model::unigram,
             "[sentencepiece] the model is not a unigram model: a tokenizer.json is needed");
  std::vector<std::string> vocab;
  vocab.reserve(pieces.size());
  for (const SpmFile::Piece& piece : pieces) {
    vocab.push_back(
        fmt::format("[{}, {}]", io::quote_json(piece.text), io::number_text(piece.score)));
  }
  const std::string normalizer =
      model.charsmap.empty()
          ? "null"
          : fmt::format(R"({{"type": "Precompiled", "precompiled_charsmap": "{}"}})",
                        to_base64(model.charsmap));
  return fmt::format(
      R"({{"version": "1.0", "added_tokens": {}, "normalizer": {}, "pre_tokenizer": {{"type": )"
      R"("Sequence", "pretokenizers": [{{"type": "WhitespaceSplit"}}, {}]}}, "post_processor": {}, )"
      R"("decoder": {}, "model": {{"type": "Unigram", "unk_id": {}, "byte_fallback": {}, )"
      R"("vocab": [{}]}}}})",
      added, normalizer, kMetaspaceJson, processor, kMetaspaceJson, unknown, model.byte_fallback,
      fmt::join(vocab, ", "));
}

TokenTable table_of(const std::vector<SpmFile::Piece>& pieces) {
  TokenTable tokens;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    tokens.add(pieces[i].text, static_cast<std::int32_t>(i));
  }
  return tokens;
}

}  // namespace

std::string bert_tokenizer_json(std::string_view vocab_txt, const BertOptions& options) {
  TokenTable tokens;
  std::int32_t next = 0;
  for (const std::string_view line : lines_of(vocab_txt)) {
    tokens.add(unicode::make_valid(without_end_space(line)), next++);
  }
  const std::string added = specials_json(
      tokens, {options.padding, options.unknown, options.begin, options.end, options.mask});
  return fmt::format(
      R"({{"version": "1.0", "added_tokens": {}, "normalizer": {{"type": "BertNormalizer", )"
      R"("clean_text": true, "handle_chinese_chars": {}, "strip_accents": {}, "lowercase": {}}}, )"
      R"("pre_tokenizer": {{"type": "BertPreTokenizer"}}, "post_processor": {}, "decoder": )"
      R"({{"type": "WordPiece", "prefix": "##", "cleanup": true}}, "model": {{"type": )"
      R"("WordPiece", "unk_token": {}, "continuing_subword_prefix": "##", )"
      R"("max_input_chars_per_word": 100, "vocab": {}}}}})",
      added, options.chinese, options.strip_accents, options.lower_case,
      template_json(tokens, options.begin, options.end, false), io::quote_json(options.unknown),
      vocab_json_of(tokens));
}

std::string byte_level_tokenizer_json(std::string_view vocab_json, std::string_view merges_txt,
                                      const ByteLevelOptions& options, std::string_view source) {
  const io::Value value = io::parse_json(vocab_json, source);
  const TokenTable tokens = TokenTable::read(JsonNode(value, source));
  std::vector<std::string> merges;
  for (const std::string_view line : lines_of(merges_txt)) {
    const std::string_view merge = line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
    if (merge.empty() || merge.starts_with("#version")) continue;
    merges.push_back(io::quote_json(merge));
  }
  const std::string added =
      specials_json(tokens, {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const std::string trim = fmt::format(
      R"({{"type": "ByteLevel", "add_prefix_space": {}, "trim_offsets": {}, "use_regex": true}})",
      options.prefix_space, options.roberta);
  const std::string processor =
      !options.roberta ? trim
                       : fmt::format(R"({{"type": "Sequence", "processors": [{}, {}]}})", trim,
                                     template_json(tokens, "<s>", "</s>", true));
  return fmt::format(
      R"({{"version": "1.0", "added_tokens": {}, "normalizer": null, "pre_tokenizer": {}, )"
      R"("post_processor": {}, "decoder": {{"type": "ByteLevel"}}, "model": {{"type": "BPE", )"
      R"("vocab": {}, "merges": [{}]}}}})",
      added, trim, processor, vocab_json, fmt::join(merges, ", "));
}

std::string t5_tokenizer_json(const SpmFile& model, std::int64_t extra_ids) {
  std::vector<SpmFile::Piece> pieces = model.pieces;
  for (std::int64_t i = extra_ids - 1; i >= 0; --i) {
    pieces.push_back({fmt::format("<extra_id_{}>", i), 0, SpmFile::Kind::control});
  }
  const TokenTable tokens = table_of(pieces);
  std::vector<std::string> added;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const SpmFile::Kind kind = pieces[i].kind;
    if (kind == SpmFile::Kind::control || kind == SpmFile::Kind::unknown) {
      added.push_back(special_json(pieces[i].text, static_cast<std::int64_t>(i)));
    }
  }
  return unigram_json(pieces, model, model.unknown, fmt::format("[{}]", fmt::join(added, ", ")),
                      template_json(tokens, "", "</s>", false));
}

std::string fairseq_tokenizer_json(const SpmFile& model,
                                   std::span<const std::string_view> languages) {
  std::vector<SpmFile::Piece> pieces = {{"<s>", 0, SpmFile::Kind::control},
                                        {"<pad>", 0, SpmFile::Kind::control},
                                        {"</s>", 0, SpmFile::Kind::control},
                                        {"<unk>", 0, SpmFile::Kind::unknown}};
  for (std::size_t i = 3; i < model.pieces.size(); ++i) pieces.push_back(model.pieces[i]);
  std::vector<std::string_view> special = {"<s>", "<pad>", "</s>", "<unk>"};
  special.insert(special.end(), languages.begin(), languages.end());
  special.push_back("<mask>");
  for (std::size_t i = 4; i < special.size(); ++i) {
    pieces.push_back({std::string(special[i]), 0, SpmFile::Kind::control});
  }
  const TokenTable tokens = table_of(pieces);
  return unigram_json(pieces, model, 3, specials_json(tokens, special),
                      template_json(tokens, "<s>", "</s>", true));
}

}  // namespace heed::pipeline

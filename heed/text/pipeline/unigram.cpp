#include "heed/text/pipeline/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/text/pipeline/bpe.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

constexpr double kUnknownPenalty = 10;  // below the lowest score

}  // namespace

Unigram::Vocab Unigram::read_vocab(const JsonNode& node) {
  Vocab vocab;
  vocab.tokens.reserve(node.values().size());
  for (std::size_t i = 0; i < node.values().size(); ++i) {
    const io::Value& value = node.values()[i];
    const io::Value::List* const pair = value.list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].string() == nullptr ||
        static_cast<std::int64_t>(i) > TokenTable::kMaxId) {
      node.element(value, i).refuse("a token and its score");
    }
    const double score = node.element((*pair)[1], i).number();
    vocab.tokens.add(*(*pair)[0].string(), static_cast<std::int32_t>(i));
    vocab.scores.push_back(score);
  }
  return vocab;
}

Unigram::Unigram(const JsonNode& node) : Unigram(node, read_vocab(node.at("vocab"))) {}

Unigram::Unigram(const JsonNode& node, Vocab vocab)
    : SubwordModel(std::move(vocab.tokens)), scores_(std::move(vocab.scores)) {
  double lowest = std::numeric_limits<double>::infinity();
  for (std::int32_t id = 0; id < tokens().limit(); ++id) {
    trie_.add(tokens().text(id), id);
    lowest = std::min(lowest, scores_[static_cast<std::size_t>(id)]);
  }
  unknown_score_ = (std::isfinite(lowest) ? lowest : 0) - kUnknownPenalty;
  if (const auto id = node.find("unk_id")) {
    unknown_ = static_cast<std::int32_t>(id->integer(0, std::int64_t{tokens().limit()} - 1));
  }
  if (node.flag("byte_fallback", false)) byte_ids_ = byte_tokens(tokens());
}

// Viterbi's algorithm over the bytes of a word.
std::vector<Subword> Unigram::best_path(std::string_view word) const {
  struct Node {
    double score = 0;
    std::int32_t id = -1;
    std::int32_t begin = -1;  // -1: not reached
  };
  std::vector<Node> nodes(word.size() + 1);
  for (std::size_t at = 0; at < word.size();) {
    const double before = nodes[at].score;
    const std::size_t bytes = unicode::front(word.substr(at)).bytes;
    bool has_character = false;
    const auto reach = [&](std::size_t length, std::int32_t id, double score) {
      Node& node = nodes[at + length];
      if (node.begin < 0 || before + score > node.score) {
        node = {before + score, id, static_cast<std::int32_t>(at)};
      }
    };
    trie_.prefixes(word.substr(at), [&](std::size_t length, std::int32_t id) {
      reach(length, id, scores_[static_cast<std::size_t>(id)]);
      has_character |= length == bytes;
    });
    if (!has_character) {
      HEED_CHECK(unknown_.has_value(),
                 "[tokenizer] the model has neither a token for {} nor an unknown token",
                 io::in_quotes(word.substr(at, bytes)));
      reach(bytes, *unknown_, unknown_score_);
    }
    at += bytes;
  }
  std::vector<Subword> path;
  for (auto end = static_cast<std::int32_t>(word.size()); end > 0;) {
    const Node& node = nodes[static_cast<std::size_t>(end)];
    path.push_back(
        {node.id, static_cast<std::uint32_t>(node.begin), static_cast<std::uint32_t>(end)});
    end = node.begin;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// A text that the path gave as one token or as unknown: the vocabulary is asked once more, because
// neighbouring unknown characters were joined.
void Unigram::add_text(std::string_view word, std::uint32_t begin, std::uint32_t end,
                       std::vector<Subword>& out) const {
  const std::string_view text = word.substr(begin, end - begin);
  if (const auto id = tokens().id_of(text)) {
    out.push_back({*id, begin, end});
    return;
  }
  const auto has_byte = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)] >= 0; };
  if (!byte_ids_.empty() && std::all_of(text.begin(), text.end(), has_byte)) {
    for (const char c : text) out.push_back({byte_ids_[static_cast<unsigned char>(c)], begin, end});
    return;
  }
  HEED_ASSERT(unknown_.has_value());
  out.push_back({*unknown_, begin, end});
}

void Unigram::tokenize(std::string_view word, std::vector<Subword>& out) const {
  if (cache_.find(word, out)) return;
  const std::size_t first = out.size();
  const std::vector<Subword> path = best_path(word);
  for (std::size_t i = 0; i < path.size();) {
    std::size_t last = i;
    if (unknown_ && path[i].id == *unknown_) {
      while (last + 1 < path.size() && path[last + 1].id == *unknown_) ++last;
    }
    add_text(word, path[i].begin, path[last].end, out);
    i = last + 1;
  }
  cache_.add(word, out.data() + first, out.data() + out.size());
}

}  // namespace heed::pipeline

#include "heed/text/pipeline/bpe.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

// Up to this number of symbols looking at all pairs again is faster than a queue.
constexpr std::size_t kShortWord = 48;

}  // namespace

std::vector<std::int32_t> byte_tokens(const TokenTable& tokens) {
  std::vector<std::int32_t> ids;
  for (int byte = 0; byte < 256; ++byte) {
    ids.push_back(tokens.id_of(fmt::format("<0x{:02X}>", byte)).value_or(-1));
  }
  return ids;
}

Bpe::Bpe(const JsonNode& node)
    : SubwordModel(TokenTable::read(node.at("vocab"))),
      prefix_(node.text("continuing_subword_prefix", "")),
      suffix_(node.text("end_of_word_suffix", "")),
      fuse_unknown_(node.flag("fuse_unk", false)),
      ignore_merges_(node.flag("ignore_merges", false)) {
  if (const auto unknown = node.find("unk_token")) {
    unknown_ = tokens().id_of(unknown->text());
    HEED_CHECK(unknown_.has_value(), "[tokenizer] {} is {}, which model.vocab lacks",
               unknown->where(), io::in_quotes(unknown->text()));
  }
  if (node.flag("byte_fallback", false)) byte_ids_ = byte_tokens(tokens());
  read_merges(node.at("merges"));
}

// A merge is "left right" or ["left", "right"].
void Bpe::read_merges(const JsonNode& node) {
  FlatMap<Merge> merges(node.values().size());
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < node.values().size(); ++i) {
    const io::Value& value = node.values()[i];
    if (const std::string* const text = value.string()) {
      if (text->starts_with("#version")) continue;
      const std::size_t space = text->find(' ');
      if (space == std::string::npos || text->find(' ', space + 1) != std::string::npos) {
        node.element(value, i).refuse("two tokens with a space between them");
      }
      const std::string_view pair = *text;
      add_merge(pair.substr(0, space), pair.substr(space + 1), rank++, node.element(value, i),
                merges);
      continue;
    }
    const io::Value::List* const pair = value.list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].string() == nullptr ||
        (*pair)[1].string() == nullptr) {
      node.element(value, i).refuse("a pair of tokens");
    }
    add_merge(*(*pair)[0].string(), *(*pair)[1].string(), rank++, node.element(value, i), merges);
  }
  merges_ = std::move(merges);
}

void Bpe::add_merge(std::string_view left, std::string_view right, std::uint32_t rank,
                    const JsonNode& node, FlatMap<Merge>& merges) const {
  const auto id = [&](std::string_view token) {
    const auto found = tokens().id_of(token);
    HEED_CHECK(found.has_value(), "[tokenizer] {}: model.vocab lacks the token {}", node.where(),
               io::in_quotes(token));
    return *found;
  };
  // The prefix of the right part is left out.
  const std::string_view tail = right.substr(std::min(prefix_.size(), right.size()));
  const auto key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(id(left))) << 32 |
                   static_cast<std::uint32_t>(id(right));
  merges[key] = {rank, id(std::string(left) + std::string(tail))};
}

bool Bpe::add_bytes(std::string_view text, std::vector<Symbol>& symbols) const {
  if (byte_ids_.empty()) return false;
  for (const char c : text) {
    if (byte_ids_[static_cast<unsigned char>(c)] < 0) return false;
  }
  for (const char c : text) symbols.push_back({byte_ids_[static_cast<unsigned char>(c)], 1});
  return true;
}

// The characters of a word as symbols. Those that the vocabulary lacks become bytes or unknown, or
// vanish if the model has neither.
std::vector<Bpe::Symbol> Bpe::symbols_of(std::string_view word) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  std::uint32_t waiting = 0;  // bytes of unknown characters that were not added so far
  const auto add_unknown = [&] {
    if (waiting > 0) symbols.push_back({*unknown_, waiting});
    waiting = 0;
  };
  std::string decorated;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t bytes = unicode::front(word.substr(at)).bytes;
    std::string_view character = word.substr(at, bytes);
    const bool is_first = at == 0, is_last = at + bytes == word.size();
    at += bytes;
    if ((!is_first && !prefix_.empty()) || (is_last && !suffix_.empty())) {
      decorated = fmt::format("{}{}{}", is_first ? "" : prefix_, character, is_last ? suffix_ : "");
      character = decorated;
    }
    const auto length = static_cast<std::uint32_t>(bytes);
    if (const auto id = tokens().id_of(character)) {
      add_unknown();
      symbols.push_back({*id, length});
    } else if (!add_bytes(character, symbols) && unknown_) {
      if (!fuse_unknown_) add_unknown();
      waiting += length;
    }
  }
  add_unknown();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].before = static_cast<std::int32_t>(i) - 1;
    symbols[i].after = i + 1 < symbols.size() ? static_cast<std::int32_t>(i) + 1 : -1;
  }
  return symbols;
}

void Bpe::merge_short(std::vector<Symbol>& symbols) const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<Merge> next(symbols.size(), Merge{kNone, -1});  // of each symbol with the next one
  const auto look = [&](std::size_t i) {
    const Merge* const merge =
        i + 1 < symbols.size() ? merge_of(symbols[i], symbols[i + 1]) : nullptr;
    next[i] = merge == nullptr ? Merge{kNone, -1} : *merge;
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) look(i);
  while (symbols.size() > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < symbols.size(); ++i) {
      if (next[i].rank < next[best].rank) best = i;
    }
    if (next[best].rank == kNone) return;
    symbols[best].id = next[best].id;
    symbols[best].bytes += symbols[best + 1].bytes;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    next.erase(next.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    look(best);
    if (best > 0) look(best - 1);
  }
}

void Bpe::merge_long(std::vector<Symbol>& symbols) const {
  struct Candidate {
    std::uint32_t rank;
    std::int32_t at, id;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto look = [&](std::int32_t at) {
    if (at < 0) return;
    const Symbol& left = symbols[static_cast<std::size_t>(at)];
    if (left.after < 0) return;
    const Merge* const merge = merge_of(left, symbols[static_cast<std::size_t>(left.after)]);
    if (merge != nullptr) queue.push({merge->rank, at, merge->id});
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) look(static_cast<std::int32_t>(i));
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    Symbol& left = symbols[static_cast<std::size_t>(top.at)];
    if (left.bytes == 0 || left.after < 0) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.after)];
    const Merge* const merge = merge_of(left, right);
    if (merge == nullptr || merge->id != top.id) continue;  // one of the two was merged meanwhile
    left.id = top.id;
    left.bytes += right.bytes;
    left.after = right.after;
    right.bytes = 0;
    if (left.after >= 0) symbols[static_cast<std::size_t>(left.after)].before = top.at;
    look(left.before);
    look(top.at);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.bytes == 0; });
}

void Bpe::tokenize(std::string_view word, std::vector<Subword>& out) const {
  if (ignore_merges_) {
    if (const auto id = tokens().id_of(word)) {
      out.push_back({*id, 0, static_cast<std::uint32_t>(word.size())});
      return;
    }
  }
  if (cache_.find(word, out)) return;
  std::vector<Symbol> symbols = symbols_of(word);
  symbols.size() <= kShortWord ? merge_short(symbols) : merge_long(symbols);
  const std::size_t first = out.size();
  std::uint32_t at = 0;
  for (const Symbol& symbol : symbols) {
    out.push_back({symbol.id, at, at + symbol.bytes});
    at += symbol.bytes;
  }
  cache_.add(word, out.data() + first, out.data() + out.size());
}

}  // namespace heed::pipeline

#include "heed/text/bpe_codes.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

constexpr std::string_view kEnd = "</w>";
constexpr std::string_view kHeader = "#version:";
constexpr std::int32_t kNone = -1;

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// "0.2", "0.2.0" and so on.
bool end_is_symbol(std::string_view header, std::string_view source) {
  std::string_view version = trimmed(header.substr(kHeader.size()), " \t\r");
  const std::string_view full = version;
  while (version.ends_with(".0")) version.remove_suffix(2);
  HEED_CHECK(version == "0.1" || version == "0.2",
             "[bpe] {}:1: the codes have version {}: 0.1 and 0.2 are supported", source,
             io::in_quotes(full));
  return version == "0.1";
}

}  // namespace

BpeCodes BpeCodes::parse(std::string_view text, std::string_view source) {
  if (const auto bad = unicode::find_invalid(text)) {
    const auto before = text.substr(0, *bad);
    fail("[bpe] {}:{}: byte {} of the file is not UTF-8", source,
         1 + std::count(before.begin(), before.end(), '\n'), *bad);
  }
  BpeCodes codes;
  while (text.ends_with('\n')) text.remove_suffix(1);
  codes.end_is_symbol_ = true;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), "\r ");
    text.remove_prefix(std::min(end + 1, text.size()));
    codes.lines_.emplace_back(line);
    if (number == 1 && line.starts_with(kHeader)) {
      codes.end_is_symbol_ = end_is_symbol(line, source);
      continue;
    }
    const std::size_t blank = line.find(' ');
    HEED_CHECK(blank != line.npos && line.find(' ', blank + 1) == line.npos,
               "[bpe] {}:{}: {} is not a pair of symbols with a space between them", source, number,
               io::in_quotes(line));
    codes.add(line.substr(0, blank), line.substr(blank + 1));
  }
  HEED_CHECK(codes.size() > 0, "[bpe] {}: the file holds no merges", source);
  return codes;
}

std::int32_t BpeCodes::intern(std::string_view symbol) {
  const auto id = static_cast<std::int32_t>(symbols_.size());
  return symbols_.emplace(symbol, id).first->second;
}

std::int32_t BpeCodes::find_symbol(std::string_view symbol) const {
  const auto found = symbols_.find(symbol);
  return found == symbols_.end() ? kNone : found->second;
}

const BpeCodes::Merge* BpeCodes::find_merge(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

// A duplicate pair keeps its first rank. If several pairs merge into the same text, split() undoes
// the first one.
void BpeCodes::add(std::string_view left, std::string_view right) {
  std::string merged = fmt::format("{}{}", left, right);
  const auto rank = static_cast<std::int32_t>(merges_.size());
  merges_.emplace(key_of(intern(left), intern(right)), Merge{rank, intern(merged)});
  parts_.emplace(std::move(merged), Parts{std::string(left), std::string(right)});
}

// The word as a linked list of symbols; merging removes the right symbol of a pair from the list.
struct BpeCodes::Symbols {
  struct Node {
    std::int32_t symbol;
    std::size_t begin, end;  // its bytes in the word
    std::int32_t previous, next;
    bool alive = true;
  };
  std::vector<Node> nodes;

  Node& operator[](std::int32_t i) { return nodes[static_cast<std::size_t>(i)]; }
  const Node& operator[](std::int32_t i) const { return nodes[static_cast<std::size_t>(i)]; }

  void append(std::int32_t symbol, std::size_t begin, std::size_t end) {
    const auto n = static_cast<std::int32_t>(nodes.size());
    if (n > 0) nodes.back().next = n;
    nodes.push_back({symbol, begin, end, n - 1, kNone});
  }
  void join_with_next(std::int32_t i, std::int32_t symbol) {
    Node& gone = (*this)[(*this)[i].next];
    gone.alive = false;
    (*this)[i].symbol = symbol;
    (*this)[i].end = gone.end;
    (*this)[i].next = gone.next;
    if (gone.next != kNone) (*this)[gone.next].previous = i;
  }
};

BpeCodes::Symbols BpeCodes::symbols_of(std::string_view word) const {
  Symbols symbols;
  std::size_t begin = 0;
  for (const std::string_view point : unicode::split(word)) {
    const std::size_t end = begin + point.size();
    const bool with_end = end == word.size() && !end_is_symbol_;
    symbols.append(with_end ? find_symbol(fmt::format("{}{}", point, kEnd)) : find_symbol(point),
                   begin, end);
    begin = end;
  }
  if (end_is_symbol_) symbols.append(find_symbol(kEnd), word.size(), word.size());
  return symbols;
}

// In each round all places of the pair with the lowest rank are merged, from left to right. The
// pairs that result are added to the queue. A queue, instead of a search through the word in every
// round, keeps very long words from taking quadratic time.
void BpeCodes::merge_all(Symbols& symbols) const {
  using Place =
      std::pair<std::int32_t, std::int32_t>;  // rank, index of the left symbol of the pair
  std::priority_queue<Place, std::vector<Place>, std::greater<>> waiting;
  const auto merge_at = [&](std::int32_t i) -> const Merge* {
    if (i == kNone || !symbols[i].alive || symbols[i].next == kNone) return nullptr;
    return find_merge(symbols[i].symbol, symbols[symbols[i].next].symbol);
  };
  const auto offer = [&](std::int32_t i) {
    if (const Merge* merge = merge_at(i)) waiting.push({merge->rank, i});
  };
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(symbols.nodes.size()); ++i) offer(i);
  std::vector<std::int32_t> round, joined;
  while (!waiting.empty()) {
    const std::int32_t rank = waiting.top().first;
    round.clear();
    joined.clear();
    for (; !waiting.empty() && waiting.top().first == rank; waiting.pop()) {
      const Merge* merge = merge_at(waiting.top().second);
      if (merge != nullptr && merge->rank == rank) round.push_back(waiting.top().second);
    }
    for (const std::int32_t i : round) {
      // In "x x x" the second pair is gone after the first is merged, and a place that both its
      // neighbours added is in the queue twice.
      const Merge* merge = merge_at(i);
      if (merge == nullptr || merge->rank != rank) continue;
      symbols.join_with_next(i, merge->symbol);
      joined.push_back(i);
    }
    for (const std::int32_t i : joined) {
      offer(symbols[i].previous);
      offer(i);
    }
  }
}

std::vector<std::string_view> BpeCodes::segment(std::string_view word) const {
  if (word.empty() || unicode::front(word).bytes == word.size()) return {word};
  Symbols symbols = symbols_of(word);
  merge_all(symbols);
  std::vector<std::string_view> parts;
  for (const Symbols::Node& node : symbols.nodes) {
    if (node.alive && node.end > node.begin) {
      parts.push_back(word.substr(node.begin, node.end - node.begin));
    }
  }
  return parts;
}

std::vector<std::string_view> BpeCodes::segment(std::string_view word,
                                                const Allowed& allowed) const {
  if (word.empty() || unicode::front(word).bytes == word.size()) return {word};
  const std::vector<std::string_view> whole = segment(word);
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    split(whole[i], i + 1 == whole.size(), allowed, parts);
  }
  return parts;
}

// Undoes merges until all parts are allowed or cannot be split further. It uses a stack instead of
// recursion, because a file may chain as many merges as it has lines.
void BpeCodes::split(std::string_view part, bool is_last, const Allowed& allowed,
                     std::vector<std::string_view>& into) const {
  std::vector<std::pair<std::string_view, bool>> todo = {{part, is_last}};
  while (!todo.empty()) {
    const auto [text, last] = todo.back();
    todo.pop_back();
    const auto found = parts_.find(fmt::format("{}{}", text, last ? kEnd : ""));
    // Version 0.1 merges a word with its end symbol; such a merge is not split.
    const bool is_whole =
        allowed(text, last) || found == parts_.end() ||
        (last && (found->second.right == kEnd || !found->second.right.ends_with(kEnd)));
    if (is_whole) {
      into.push_back(text);
      continue;
    }
    const std::size_t left = found->second.left.size();
    todo.push_back({text.substr(left), last});
    todo.push_back({text.substr(0, left), false});
  }
}

}  // namespace heed

// A trie of byte sequences that finds all tokens at the beginning of a text.
#pragma once

#include <cstdint>
#include <string_view>

#include "heed/text/pipeline/flat_map.h"

namespace heed::pipeline {

/// Maps byte sequences to ids.
class PrefixTrie {
 public:
  explicit PrefixTrie(std::size_t expected_bytes = 0) : next_(expected_bytes) {}

  /// Adds a sequence; the last id of equal ones counts. Empty ones are ignored.
  void add(std::string_view text, std::int32_t id) {
    if (text.empty()) return;
    std::uint32_t node = 0;
    for (const char c : text) {
      Node& next = next_[key(node, c)];
      if (next.index == 0) next.index = ++nodes_;
      node = next.index;
    }
    next_[key_of_last(text)].id = id;
  }

  /// Calls found(bytes, id) for each sequence that the text begins with, shortest first.
  template <typename Found>
  void prefixes(std::string_view text, Found&& found) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const Node* const next = next_.find(key(node, text[i]));
      if (next == nullptr) return;
      if (next->id >= 0) found(i + 1, next->id);
      node = next->index;
    }
  }

 private:
  struct Node {
    std::uint32_t index = 0;
    std::int32_t id = -1;
  };

  static std::uint64_t key(std::uint32_t node, char c) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(c);
  }
  std::uint64_t key_of_last(std::string_view text) const {
    std::uint32_t node = 0;
    for (const char c : text.substr(0, text.size() - 1)) node = next_.find(key(node, c))->index;
    return key(node, text.back());
  }

  FlatMap<Node> next_;
  std::uint32_t nodes_ = 0;
};

}  // namespace heed::pipeline

// The tokens of a model by id and by text.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/pipeline/flat_map.h"
#include "heed/text/pipeline/json_node.h"

namespace heed::pipeline {

/// Tokens with ids from 0; some ids may have no token.
class TokenTable {
 public:
  /// No vocabulary has greater ids: a limit for memory.
  static constexpr std::int64_t kMaxId = (1 << 24) - 1;

  TokenTable() = default;
  TokenTable(TokenTable&&) = default;
  TokenTable& operator=(TokenTable&&) = default;
  /// Reads {"token": id, …}.
  static TokenTable read(const JsonNode& node);

  /// Adds a token. A text that occurs twice has the later id; an id that occurs twice has the later
  /// text.
  void add(std::string_view text, std::int32_t id);
  std::optional<std::int32_t> id_of(std::string_view text) const;
  /// The text of an id; "" if it has none.
  std::string_view text(std::int32_t id) const {
    return id >= 0 && id < limit() ? texts_[static_cast<std::size_t>(id)] : std::string_view();
  }
  bool contains(std::int32_t id) const {
    return id >= 0 && id < limit() && present_[static_cast<std::size_t>(id)];
  }
  /// One more than the greatest id.
  std::int32_t limit() const { return static_cast<std::int32_t>(texts_.size()); }
  /// The number of different texts.
  std::size_t size() const { return ids_.size(); }
  /// Makes room for this number of tokens; call it before the first add().
  void reserve(std::size_t count) { ids_ = FlatMap<Entry>(count); }

 private:
  struct Entry {
    std::uint32_t text = 0;  // its place in owned_
    std::int32_t id = 0;
  };
  /// The place of a text in ids_: its hash, or the next number if another text has the same. The
  /// entry is null if the text is absent.
  struct Place {
    std::uint64_t key;
    const Entry* entry;
  };
  Place place_of(std::string_view text) const;

  std::deque<std::string> owned_;  // a deque does not move its elements
  std::vector<std::string_view> texts_;
  std::vector<bool> present_;
  FlatMap<Entry> ids_;
};

}  // namespace heed::pipeline

// The tokens of a model by id and by text.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
  void reserve(std::size_t count) { ids_.reserve(count); }

 private:
  std::deque<std::string> owned_;  // a deque does not move its elements
  std::vector<std::string_view> texts_;
  std::vector<bool> present_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
};

}  // namespace heed::pipeline

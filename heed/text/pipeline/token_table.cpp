#include "heed/text/pipeline/token_table.h"

#include <functional>

#include "heed/base/error.h"

namespace heed::pipeline {

TokenTable TokenTable::read(const JsonNode& node) {
  TokenTable table;
  table.reserve(node.members().size());
  for (const io::Member& member : node.members()) {
    const std::int64_t* const id = member.value.integer();
    HEED_CHECK(id != nullptr && *id >= 0 && *id <= kMaxId,
               "[tokenizer] {}.{} is {}: expected an id from 0 to {}", node.where(),
               io::in_quotes(member.key), io::describe(member.value), kMaxId);
    table.add(member.key, static_cast<std::int32_t>(*id));
  }
  return table;
}

TokenTable::Place TokenTable::place_of(std::string_view text) const {
  for (std::uint64_t key = std::hash<std::string_view>()(text);; ++key) {
    if (key == FlatMap<Entry>::kEmpty) continue;
    const Entry* const found = ids_.find(key);
    if (found == nullptr || owned_[found->text] == text) return {key, found};
  }
}

void TokenTable::add(std::string_view text, std::int32_t id) {
  HEED_ASSERT(id >= 0 && id <= kMaxId);
  const auto at = static_cast<std::size_t>(id);
  if (at >= texts_.size()) {
    texts_.resize(at + 1);
    present_.resize(at + 1, false);
  }
  ids_[place_of(text).key] = {static_cast<std::uint32_t>(owned_.size()), id};
  texts_[at] = owned_.emplace_back(text);
  present_[at] = true;
}

std::optional<std::int32_t> TokenTable::id_of(std::string_view text) const {
  const Entry* const found = place_of(text).entry;
  if (found == nullptr) return std::nullopt;
  return found->id;
}

}  // namespace heed::pipeline

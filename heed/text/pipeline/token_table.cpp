#include "heed/text/pipeline/token_table.h"

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

void TokenTable::add(std::string_view text, std::int32_t id) {
  HEED_ASSERT(id >= 0 && id <= kMaxId);
  const auto at = static_cast<std::size_t>(id);
  if (at >= texts_.size()) {
    texts_.resize(at + 1);
    present_.resize(at + 1, false);
  }
  const std::string_view kept = owned_.emplace_back(text);
  texts_[at] = kept;
  present_[at] = true;
  ids_.insert_or_assign(kept, id);
}

std::optional<std::int32_t> TokenTable::id_of(std::string_view text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace heed::pipeline

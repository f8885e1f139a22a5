#include "heed/text/copy_table.h"

#include <algorithm>

namespace heed {

CopyTable::CopyTable(const Tokenizer& source, const Tokenizer& target)
    : source_(source),
      target_(target),
      source_parts_(dynamic_cast<const TextParts*>(&source)),
      target_parts_(dynamic_cast<const TextParts*>(&target)) {
  const SpecialTokens special = target.special();
  for (std::int32_t id = 0; id < target.size(); ++id) {
    const bool is_special =
        id == special.unknown || id == special.begin || id == special.end || id == special.padding;
    if (!is_special) ids_.emplace(target.piece(id), id);
  }
}

CopiedWords CopyTable::read(std::string_view sentence, std::span<const std::int32_t> tokens,
                            std::int64_t before) const {
  const SpecialTokens special = source_.special();
  CopiedWords copied{.vocabulary = target_.size(), .unknown = target_.special().unknown};
  std::vector<std::string> parts;
  if (source_parts_ != nullptr && target_parts_ != nullptr) parts = source_parts_->parts(sentence);
  for (std::int64_t i = 0; i < std::ssize(tokens); ++i) {
    const std::int32_t token = tokens[static_cast<std::size_t>(i)];
    std::int32_t& id = copied.ids.emplace_back(copied.unknown);
    if (token == special.end) id = target_.special().end;
    if (token == special.begin || token == special.end || token == special.padding) continue;
    const bool is_unknown = token == special.unknown;
    if (!is_unknown) {
      const auto found = ids_.find(source_.piece(token));
      if (found != ids_.end()) {
        id = found->second;
        continue;
      }
    }
    const std::int64_t at = i - before;
    if (at < 0 || at >= std::ssize(parts)) continue;
    const std::string& part = parts[static_cast<std::size_t>(at)];
    if (const auto found = ids_.find(part); is_unknown && found != ids_.end()) {
      id = found->second;
      continue;
    }
    auto word = std::ranges::find(copied.words, part);
    if (word == copied.words.end()) word = copied.words.insert(word, part);
    id = static_cast<std::int32_t>(copied.vocabulary + (word - copied.words.begin()));
  }
  return copied;
}

std::vector<std::int32_t> CopyTable::read_target(std::string_view text,
                                                 const CopiedWords& copied) const {
  std::vector<std::int32_t> ids = target_.encode(text);
  if (copied.words.empty()) return ids;
  const std::vector<std::string> parts = target_parts_->parts(text);
  for (std::size_t i = 0; i < std::min(ids.size(), parts.size()); ++i) {
    if (ids[i] != copied.unknown) continue;
    const auto word = std::ranges::find(copied.words, parts[i]);
    if (word == copied.words.end()) continue;
    ids[i] = static_cast<std::int32_t>(copied.vocabulary + (word - copied.words.begin()));
  }
  return ids;
}

std::string CopyTable::decode(std::span<const std::int32_t> ids,
                              std::span<const std::string> words) const {
  return words.empty() ? target_.decode(ids) : target_parts_->decode_with(ids, words);
}

}  // namespace heed

#include "heed/text/pipeline/word_cache.h"

namespace heed::pipeline {

bool WordCache::find(std::string_view word, std::vector<Subword>& out) const {
  if (word.size() > kLongest) return false;
  Part& part = part_of(word);
  const std::unique_lock lock(part.mutex, std::try_to_lock);
  if (!lock) return false;
  const auto found = part.words.find(word);
  if (found == part.words.end()) return false;
  out.insert(out.end(), found->second.begin(), found->second.end());
  return true;
}

void WordCache::add(std::string_view word, const Subword* begin, const Subword* end) const {
  if (word.size() > kLongest) return;
  Part& part = part_of(word);
  const std::unique_lock lock(part.mutex, std::try_to_lock);
  if (!lock) return;
  if (part.words.size() >= kWordsPerPart) part.words.clear();
  part.words.try_emplace(std::string(word), begin, end);
}

}  // namespace heed::pipeline

#include "heed/text/vocabulary.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

constexpr std::size_t kSpecials = kSpecialNames.size();

bool is_special_name(std::string_view token) {
  return std::find(kSpecialNames.begin(), kSpecialNames.end(), token) != kSpecialNames.end();
}

std::array<std::int32_t*, kSpecials> members(SpecialTokens& special) {
  return {&special.unknown, &special.begin, &special.end, &special.padding};
}

}  // namespace

Vocabulary::Vocabulary(std::vector<TokenCount> tokens) : tokens_(std::move(tokens)) {
  HEED_CHECK(tokens_.size() + kSpecials <= std::numeric_limits<std::int32_t>::max(),
             "[vocabulary] {} tokens are too many: 2^31 is the limit", tokens_.size());
  place_special();
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& token = tokens_[i].token;
    HEED_CHECK(!token.empty(), "[vocabulary] token {} is empty", i);
    HEED_CHECK(!unicode::find_invalid(token), "[vocabulary] token {} ({}) is not UTF-8", i,
               io::in_quotes(token));
    if (is_special_name(token)) continue;
    const auto [place, is_new] = ids_.emplace(token, static_cast<std::int32_t>(i));
    HEED_CHECK(is_new, "[vocabulary] {} is token {} and again token {}: each may appear once",
               io::in_quotes(token), place->second, i);
  }
}

// Finds the special tokens or adds them.
void Vocabulary::place_special() {
  std::array<std::int32_t, kSpecials> found;
  found.fill(-1);
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const auto name = std::find(kSpecialNames.begin(), kSpecialNames.end(), tokens_[i].token);
    if (name == kSpecialNames.end()) continue;
    std::int32_t& place = found[static_cast<std::size_t>(name - kSpecialNames.begin())];
    HEED_CHECK(place < 0, "[vocabulary] {} is token {} and again token {}: each may appear once",
               *name, place, i);
    place = static_cast<std::int32_t>(i);
  }
  const bool has_none = std::all_of(found.begin(), found.end(), [](auto i) { return i < 0; });
  for (std::size_t s = 0; s < kSpecials; ++s) {
    TokenCount missing{std::string(kSpecialNames[s]), 0};
    if (has_none) {
      found[s] = static_cast<std::int32_t>(s);
      tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(s), std::move(missing));
    } else if (found[s] < 0) {
      found[s] = static_cast<std::int32_t>(tokens_.size());
      tokens_.push_back(std::move(missing));
    }
    *members(special_)[s] = found[s];
  }
}

std::int32_t Vocabulary::id_of(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? special_.unknown : found->second;
}

const TokenCount& Vocabulary::at(std::int32_t id) const {
  HEED_CHECK(id >= 0 && id < size(), "[vocabulary] there is no token {}: ids go from 0 to {}", id,
             size() - 1);
  return tokens_[static_cast<std::size_t>(id)];
}

void TokenCounter::add(std::string_view token) {
  if (const auto found = counts_.find(token); found != counts_.end()) {
    ++found->second;
  } else if (!token.empty() && !is_special_name(token) && !unicode::find_invalid(token)) {
    counts_.emplace(token, 1);
  }
}

Vocabulary TokenCounter::vocabulary(const VocabularyOptions& options) const {
  HEED_CHECK(options.size == 0 || options.size > static_cast<std::int64_t>(kSpecials),
             "[vocabulary] a size of {} leaves no room besides the {} special tokens", options.size,
             kSpecials);
  std::vector<TokenCount> tokens;
  for (const auto& [token, count] : counts_) {
    if (count >= options.min_count) tokens.push_back({token, count});
  }
  std::sort(tokens.begin(), tokens.end(), [](const TokenCount& a, const TokenCount& b) {
    return a.count != b.count ? a.count > b.count : a.token < b.token;
  });
  const auto most = static_cast<std::size_t>(options.size) - kSpecials;
  if (options.size > 0 && tokens.size() > most) tokens.resize(most);
  return Vocabulary(std::move(tokens));
}

}  // namespace heed

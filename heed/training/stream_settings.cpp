#include "heed/training/stream_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heed {
namespace {

constexpr std::string_view kSeparator = ", ";

std::map<std::string_view, std::string_view> parsed(std::string_view text) {
  std::map<std::string_view, std::string_view> settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kSeparator), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + kSeparator.size(), text.size()));
    const std::size_t equals = one.find('=');
    if (equals != one.npos) settings[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return settings;
}

}  // namespace

std::vector<StreamSetting> settings_of(const BatchingOptions& options) {
  return {{"batch_tokens", options.batch_tokens},
          {"batch_sentences", options.batch_sentences},
          {"seed", static_cast<std::int64_t>(options.seed)}};
}

std::vector<StreamSetting> settings_of(const PictureStreamOptions& options) {
  return {{"batch_sentences", options.batch}};
}

std::string settings_text(std::span<const StreamSetting> settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : kSeparator, key, value);
  }
  return text;
}

std::string differing_settings(std::string_view before, std::string_view now) {
  const auto earlier = parsed(before);
  std::string text;
  for (const auto& [key, value] : parsed(now)) {
    const auto found = earlier.find(key);
    if (found == earlier.end() || found->second == value) continue;
    text += fmt::format("{}{} was {} and is {}", text.empty() ? "" : kSeparator, key, found->second,
                        value);
  }
  return text;
}

}  // namespace heed

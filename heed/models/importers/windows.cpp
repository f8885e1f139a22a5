#include "heed/models/importers/windows.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/io/value.h"

namespace heed {

std::string import_layer_pattern(const ForeignConfig& config, std::int64_t layers,
                                 const std::function<bool(std::int64_t layer)>& is_local) {
  HEED_CHECK(layers >= 1 && layers <= kMaxLayers,
             "[import] {}: a model of {} layers: expected 1 to {}", config.source(), layers,
             kMaxLayers);
  std::string pattern;
  const std::vector<std::string> types = config.texts("layer_types");
  if (types.empty()) {
    for (std::int64_t i = 0; i < layers; ++i) pattern += is_local(i) ? 'L' : 'G';
    return pattern;
  }
  HEED_CHECK(std::ssize(types) == layers,
             "[import] {}: \"layer_types\" has {} entries, and there are {} layers",
             config.source(), types.size(), layers);
  for (const std::string& type : types) {
    const bool is_window = type == "sliding_attention";
    HEED_CHECK(is_window || type == "full_attention",
               "[import] {}: \"layer_types\" has {}: heed computes full_attention and "
               "sliding_attention",
               config.source(), io::in_quotes(type));
    pattern += is_window ? 'L' : 'G';
  }
  return pattern;
}

void set_windows(BlockConfig& block, const ForeignConfig& config, const std::string& pattern,
                 std::int64_t window, const std::string& options) {
  const bool has_local = pattern.find('L') != pattern.npos;
  HEED_CHECK(!has_local || window >= 1,
             "[import] {}: there are layers with a window, and \"sliding_window\" is {}: expected "
             "at least 1",
             config.source(), window);
  const std::string local = fmt::format("restricted left={} right=0 {}", window - 1, options);
  block.attention =
      has_local && pattern.find('G') == pattern.npos ? local : "multi_head " + options;
  if (!has_local || pattern.find('G') == pattern.npos) return;
  block.layer_pattern = pattern;
  block.local_attention = local;
}

}  // namespace heed

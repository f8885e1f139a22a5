// Lines of sets of elements: whatever they hold, they are read or refused, and what was read is
// written and read again as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/data/element_sets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  for (const std::int64_t features : {1, 2, 3}) {
    heed::ElementSet set, again;
    if (heed::parse_elements(line, {.features = features, .each_once = features == 3}, set))
      continue;
    const auto count = static_cast<std::int64_t>(set.numbers.size()) / features;
    for (const std::int32_t position : set.pointed) {
      if (position < 1 || position > count) std::abort();
    }
    if (heed::parse_elements(heed::elements_line(set), {.features = features}, again) ||
        again.pointed != set.pointed || again.numbers.size() != set.numbers.size()) {
      std::abort();
    }
  }
  return 0;
}

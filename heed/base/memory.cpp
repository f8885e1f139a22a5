#include "heed/base/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "heed/base/error.h"

namespace heed {
namespace {

// The number in a file of one number; none if there is another text, such as "max".
std::optional<std::int64_t> number_in(const char* path) {
  std::int64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return {};
}

}  // namespace

std::optional<std::int64_t> available_memory() {
  std::optional<std::int64_t> available;
  std::ifstream lines("/proc/meminfo");
  std::string name, unit;
  for (std::int64_t kilobytes = 0; lines >> name >> kilobytes && std::getline(lines, unit);) {
    if (name == "MemAvailable:") available = kilobytes * 1024;
  }
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (available && limit && used) available = std::min(*available, std::max(*limit - *used, 0L));
  return available;
}

void check_memory(std::int64_t bytes, std::string_view op, std::string_view what,
                  std::string_view remedy) {
  const auto available = available_memory();
  constexpr double kGigabyte = 1e9;
  HEED_CHECK(!available || bytes <= *available,
             "[{}] {} would take {:.1f} GB, and {:.1f} GB of memory are available: {}", op, what,
             static_cast<double>(bytes) / kGigabyte,
             static_cast<double>(available.value_or(0)) / kGigabyte, remedy);
}

}  // namespace heed

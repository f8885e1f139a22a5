#include "heed/kernels/packed/cpu.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "heed/base/isa.h"

namespace heed::kernels {
namespace {

std::atomic<bool>& vnni_on() {
  static std::atomic<bool> on = [] {
    const char* const value = std::getenv("HEED_VNNI");
    return value == nullptr || std::string_view(value) != "0";
  }();
  return on;
}

bool cpu_has_vnni(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return __builtin_cpu_supports("avx512vnni") != 0;
  if (isa == Isa::avx2) return __builtin_cpu_supports("avxvnni") != 0;
#endif
  (void)isa;
  return false;
}

}  // namespace

bool has_vnni() { return vnni_on().load(std::memory_order_relaxed) && cpu_has_vnni(current_isa()); }

void set_vnni(bool on) { vnni_on().store(on); }

}  // namespace heed::kernels

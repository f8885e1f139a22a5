#include "heed/kernels/packed/cpu.h"

#include <cstdlib>
#include <string_view>

#include "heed/base/isa.h"

namespace heed::kernels {
namespace {

bool is_off() {
  const char* const value = std::getenv("HEED_VNNI");
  return value != nullptr && std::string_view(value) == "0";
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

bool has_vnni() {
  static const bool off = is_off();
  return !off && cpu_has_vnni(current_isa());
}

}  // namespace heed::kernels

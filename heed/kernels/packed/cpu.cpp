#include "heed/kernels/packed/cpu.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "heed/base/isa.h"

namespace heed::kernels {
namespace {

bool not_disabled(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr || std::string_view(value) != "0";
}

std::atomic<bool>& vnni_on() {
  static std::atomic<bool> on = not_disabled("HEED_VNNI");
  return on;
}
std::atomic<bool>& bf16_dot_on() {
  static std::atomic<bool> on = not_disabled("HEED_BF16_DOT");
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

bool cpu_has_bf16_dot(Isa isa) {
#if defined(__x86_64__)
  return isa == Isa::avx512 && __builtin_cpu_supports("avx512bf16") != 0;
#else
  (void)isa;
  return false;
#endif
}

}  // namespace

bool has_vnni() { return vnni_on().load(std::memory_order_relaxed) && cpu_has_vnni(current_isa()); }

bool has_bf16_dot() {
  return bf16_dot_on().load(std::memory_order_relaxed) && cpu_has_bf16_dot(current_isa());
}

void set_vnni(bool on) { vnni_on().store(on); }
void set_bf16_dot(bool on) { bf16_dot_on().store(on); }

}  // namespace heed::kernels

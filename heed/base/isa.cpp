// Sets the instruction set as the mask that Highway's dispatch uses. Only this file of base uses
// Highway: the choice is made before the first kernel runs.
#include "heed/base/isa.h"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

#include "heed/base/error.h"
#include "heed/base/fork_mutex.h"

namespace heed {
namespace {

struct Entry {
  Isa isa;
  std::string_view name;
  std::int64_t target;
};

// Best first; kernels/foreach_target.h has Highway compile these. The target bits of all
// architectures are distinct, and a CPU supports only those of its own architecture.
constexpr std::array kEntries = {
    Entry{Isa::avx512, "avx512", HWY_AVX3},
    Entry{Isa::avx2, "avx2", HWY_AVX2},
    Entry{Isa::sse4, "sse4", HWY_SSE4},
    Entry{Isa::neon, "neon", HWY_NEON},
};

const Entry& entry_of(Isa isa) {
  for (const Entry& entry : kEntries) {
    if (entry.isa == isa) return entry;
  }
  fail("[isa] {} is not an instruction set", static_cast<int>(isa));
}

ForkMutex& choice_mutex() {
  static auto* const mutex = new ForkMutex;
  return *mutex;
}

// Made when heed is loaded: a fork while another thread makes it would leave the child waiting for
// that thread.
[[maybe_unused]] const ForkMutex& made_at_load = choice_mutex();

std::atomic<Isa> chosen{Isa::sse4};

std::string available_names() {
  std::string names;
  for (const Isa isa : available_isas()) {
    if (!names.empty()) names += ", ";
    names += name_of(isa);
  }
  return names;
}

/// Caller holds choice_mutex().
void choose(Isa isa) {
  // Highway takes the best target of the mask that a translation unit was compiled for; a lower bit
  // is a better target. Worse targets stay in the mask for other users of Highway in this process.
  const std::int64_t better = entry_of(isa).target - 1;
  hwy::GetChosenTarget().Update(hwy::SupportedTargets() & ~better);
  chosen.store(isa);
  detail::isa_chosen.store(true, std::memory_order_release);
}

}  // namespace

namespace detail {

constinit std::atomic<bool> isa_chosen{false};

void choose_isa() {
  const std::lock_guard lock(choice_mutex());
  if (isa_chosen.load()) return;
  const std::vector<Isa> available = available_isas();
  HEED_CHECK(!available.empty(),
             "[isa] heed needs a CPU with SSE4.2 and AES, or with NEON and AES");
  const char* wish = std::getenv("HEED_ISA");
  if (wish == nullptr || *wish == '\0') return choose(available.front());
  for (const Isa isa : available) {
    if (name_of(isa) == wish) return choose(isa);
  }
  fail("[isa] HEED_ISA is '{}': this CPU and this build can run {}", wish, available_names());
}

}  // namespace detail

std::string_view name_of(Isa isa) { return entry_of(isa).name; }

std::vector<Isa> available_isas() {
  std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;  // of the CPU and of the build
#ifdef HEED_WITHOUT_AVX512
  supported &= ~(HWY_AVX2 - 1);
#endif
#ifdef __x86_64__
  // Highway 1.0.3 offers AVX even if the system does not save its registers, so that it cannot be
  // used (Linux booted with noxsave). The compiler's check is right there.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) supported &= ~(HWY_AVX2 | (HWY_AVX2 - 1));
#endif
  std::vector<Isa> isas;
  for (const Entry& entry : kEntries) {
    if ((supported & entry.target) != 0) isas.push_back(entry.isa);
  }
  return isas;
}

Isa current_isa() {
  detail::ensure_isa();
  return chosen.load();
}

void set_isa(Isa isa) {
  const std::vector<Isa> available = available_isas();
  HEED_CHECK(std::find(available.begin(), available.end(), isa) != available.end(),
             "[isa] {} cannot run here: this CPU and this build can run {}", name_of(isa),
             available_names());
  const std::lock_guard lock(choice_mutex());
  choose(isa);
}

}  // namespace heed

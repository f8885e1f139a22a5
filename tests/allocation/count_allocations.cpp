#include "tests/allocation/count_allocations.h"

#include <link.h>  // dl_iterate_phdr

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>

// The GNU C library's own functions, under the names it keeps for those who replace malloc.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// Where oneDNN's code lies in memory.
Range find_onednn() {
  Range range;
  const auto look = [](dl_phdr_info* library, std::size_t, void* out) {
    if (std::string_view(library->dlpi_name).find("libdnnl") == std::string_view::npos) return 0;
    auto& found = *static_cast<Range*>(out);
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      const auto& part = library->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      found.begin = library->dlpi_addr + part.p_vaddr;
      found.end = found.begin + part.p_memsz;
    }
    return 1;
  };
  dl_iterate_phdr(look, &range);
  return range;
}

constinit std::atomic<std::uint64_t> calls{0};
constinit Range onednn;
const bool onednn_found = (onednn = find_onednn(), true);

constinit std::atomic<std::uint64_t> failing{0};  // the number of the call that fails

// False if the call must fail.
bool count(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (address >= onednn.begin && address < onednn.end) return true;
  return calls.fetch_add(1, std::memory_order_relaxed) + 1 != failing.load();
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  if (!count(__builtin_return_address(0))) return errno = ENOMEM, nullptr;
  return __libc_malloc(bytes);
}

void* calloc(std::size_t n, std::size_t bytes) {
  if (!count(__builtin_return_address(0))) return errno = ENOMEM, nullptr;
  return __libc_calloc(n, bytes);
}

void* realloc(void* block, std::size_t bytes) {
  if (!count(__builtin_return_address(0))) return errno = ENOMEM, nullptr;
  return __libc_realloc(block, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  if (!count(__builtin_return_address(0))) return errno = ENOMEM, nullptr;
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (!count(__builtin_return_address(0))) return errno = ENOMEM, nullptr;
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (!count(__builtin_return_address(0))) return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"

void heed::test::fail_allocation(std::uint64_t n) { failing = n == 0 ? 0 : calls.load() + n; }

std::uint64_t heed::test::allocations() { return calls.load(); }

#include "heed/tensor/storage.h"

#include <sys/mman.h>

#include <new>

#include "heed/base/error.h"
#include "heed/tensor/memory_limit.h"

namespace heed {
namespace {
// The header takes one cache line, so that the data after it is aligned like the block.
constexpr std::size_t kHeader = arena::kAlignment;
static_assert(sizeof(Storage) <= kHeader);

// Smaller tensors of Unpooled come from the arena: a system call and the rest of a page cost more.
constexpr std::size_t kLeastUnpooled = std::size_t{64} << 10;
constexpr std::size_t kLargePage = std::size_t{2} << 20;

std::shared_ptr<std::byte> system_pages(std::size_t bytes) {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HEED_CHECK(pages != MAP_FAILED, "[memory] the system cannot provide {} bytes", bytes);
  if (bytes >= kLargePage) ::madvise(pages, bytes, MADV_HUGEPAGE);  // a hint
  return {static_cast<std::byte*>(pages), [bytes](std::byte* at) { ::munmap(at, bytes); }};
}
}  // namespace

std::size_t Storage::block_bytes() const { return keeper_ ? kHeader : kHeader + bytes_; }

Ref<Storage> Storage::allocate(std::size_t bytes) {
  MemoryLimit::count(bytes);
  if (Unpooled::is_active() && bytes >= kLeastUnpooled) {
    std::shared_ptr<std::byte> pages = system_pages(bytes);
    std::byte* const data = pages.get();
    return lend(data, bytes, std::move(pages));
  }
  auto* const block = static_cast<std::byte*>(arena::take(kHeader + bytes));
  return Ref<Storage>::adopt(new (block) Storage(block + kHeader, bytes, nullptr, false));
}

Ref<Storage> Storage::borrow(const std::byte* data, std::size_t bytes,
                             std::shared_ptr<const void> keeper) {
  void* const block = arena::take(kHeader);
  return Ref<Storage>::adopt(
      new (block) Storage(const_cast<std::byte*>(data), bytes, std::move(keeper), true));
}

Ref<Storage> Storage::lend(std::byte* data, std::size_t bytes, std::shared_ptr<const void> keeper) {
  void* const block = arena::take(kHeader);
  return Ref<Storage>::adopt(new (block) Storage(data, bytes, std::move(keeper), false));
}

void release(Storage* s) noexcept {
  if (s->refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::size_t bytes = s->block_bytes();
  s->~Storage();
  arena::give(s, bytes);
}

}  // namespace heed

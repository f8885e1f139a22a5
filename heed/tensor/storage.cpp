#include "heed/tensor/storage.h"

#include <new>

#include "heed/tensor/memory_limit.h"

namespace heed {
namespace {
// The header takes one cache line, so that the data after it is aligned like the block.
constexpr std::size_t kHeader = arena::kAlignment;
static_assert(sizeof(Storage) <= kHeader);
}  // namespace

std::size_t Storage::block_bytes() const { return keeper_ ? kHeader : kHeader + bytes_; }

Ref<Storage> Storage::allocate(std::size_t bytes) {
  MemoryLimit::count(bytes);
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

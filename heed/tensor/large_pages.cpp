#include "heed/tensor/large_pages.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/fork_mutex.h"

namespace heed {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kChunk = std::size_t{32} << 20;  // addresses; memory is taken when written
constexpr std::size_t kCacheLine = 64;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Addresses that begin at a large page. Blocks are taken from its beginning to its end.
class Chunk {
 public:
  explicit Chunk(std::size_t bytes) : mapped_(rounded_up(bytes, kLargePage) + kLargePage) {
    void* const pages = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    HEED_CHECK(pages != MAP_FAILED, "[memory] the system cannot provide {} bytes", bytes);
    base_ = static_cast<std::byte*>(pages);
    const std::size_t after_page = reinterpret_cast<std::uintptr_t>(pages) % kLargePage;
    next_ = after_page == 0 ? 0 : kLargePage - after_page;
    end_ = next_ + mapped_ - kLargePage;
    ::madvise(base_ + next_, end_ - next_, MADV_HUGEPAGE);  // a hint
  }
  ~Chunk() { ::munmap(base_, mapped_); }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  bool has(std::size_t bytes) const { return bytes <= end_ - next_; }
  std::byte* take(std::size_t bytes) { return base_ + std::exchange(next_, next_ + bytes); }

 private:
  std::byte* base_;
  std::size_t mapped_, next_, end_;
};

// The chunks with room for more, as long as one of their blocks lives. A thread takes its blocks
// from one of them, so that the matrices of a model, which are released together, are in one chunk:
// with one chunk for all threads, six threads that load models needed 106 MB instead of 76. A
// pointer of each thread would have a destructor, and where memory is too short to register that,
// glibc ends the process.
struct Current {
  ForkMutex mutex;
  std::array<std::weak_ptr<Chunk>, 16> chunks;
};

Current& current() {
  static auto* const made = new Current;
  return *made;
}
[[maybe_unused]] const Current& made_at_load = current();

std::weak_ptr<Chunk>& chunk_of_thread() {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t number = threads++;
  return current().chunks[number % current().chunks.size()];
}

// A block of the thread's chunk; null if there is no room.
std::shared_ptr<std::byte> take_from_current(std::size_t bytes) {
  const std::lock_guard lock(current().mutex);
  std::shared_ptr<Chunk> chunk = chunk_of_thread().lock();
  if (!chunk || !chunk->has(bytes)) return nullptr;
  std::byte* const block = chunk->take(bytes);
  return {std::move(chunk), block};
}

}  // namespace

std::shared_ptr<std::byte> large_page_block(std::size_t bytes) {
  const std::size_t taken = rounded_up(bytes, kCacheLine);
  if (auto block = take_from_current(taken)) return block;
  const bool shared = taken <= kChunk / 2;
  auto chunk = std::make_shared<Chunk>(shared ? kChunk : taken);
  std::byte* const block = chunk->take(taken);
  if (shared) {
    const std::lock_guard lock(current().mutex);
    chunk_of_thread() = chunk;
  }
  return {std::move(chunk), block};
}

}  // namespace heed

// The bytes behind tensors: counted, shared by all views of them, owned by the arena or kept alive
// by someone else (a mapped file, an array of another library).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "heed/base/arena.h"
#include "heed/base/ref.h"

namespace heed {

class Storage {
 public:
  /// Uninitialised bytes from the arena; the header and the data are one block.
  static Ref<Storage> allocate(std::size_t bytes);
  /// Borrowed bytes that `keeper` keeps alive, e.g. a mapped file; never written through.
  static Ref<Storage> borrow(const std::byte* data, std::size_t bytes,
                             std::shared_ptr<const void> keeper);
  /// The same with leave to write.
  static Ref<Storage> lend(std::byte* data, std::size_t bytes, std::shared_ptr<const void> keeper);

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  bool read_only() const { return read_only_; }
  /// True when exactly one handle exists, so writing in place can surprise nobody.
  bool exclusive() const { return refs_.load(std::memory_order_acquire) == 1; }

 private:
  Storage(std::byte* data, std::size_t bytes, std::shared_ptr<const void> keeper, bool read_only)
      : data_(data), bytes_(bytes), keeper_(std::move(keeper)), read_only_(read_only) {}
  std::size_t block_bytes() const;

  std::atomic<std::int64_t> refs_{1};
  std::byte* data_;
  std::size_t bytes_;
  std::shared_ptr<const void> keeper_;  // null: the data lies behind this header
  bool read_only_;

  friend void retain(Storage* s) { s->refs_.fetch_add(1, std::memory_order_relaxed); }
  friend void release(Storage* s) noexcept;
};

}  // namespace heed

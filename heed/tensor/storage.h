// The memory of tensors: reference-counted, shared by all views, allocated from the arena or
// borrowed from another owner (a mapped file, an array of another library).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "heed/base/arena.h"
#include "heed/base/ref.h"

namespace heed {

/// While it lives, large tensors that this thread makes have pages of their own from the system,
/// which takes memory for a page when it is first written, rather than blocks of the arena: for the
/// parameters of a model that is read from files.
class Unpooled {
 public:
  Unpooled() { ++living_; }
  ~Unpooled() { --living_; }
  Unpooled(const Unpooled&) = delete;
  Unpooled& operator=(const Unpooled&) = delete;

  static bool is_active() { return living_ > 0; }

 private:
  static inline constinit thread_local int living_ = 0;
};

/// A reference-counted block of bytes.
class Storage {
 public:
  /// Uninitialised bytes from the arena; the header and the data are one block. See Unpooled.
  static Ref<Storage> allocate(std::size_t bytes);
  /// Borrowed read-only bytes that `keeper` keeps alive, e.g. a mapped file.
  static Ref<Storage> borrow(const std::byte* data, std::size_t bytes,
                             std::shared_ptr<const void> keeper);
  /// Borrowed writable bytes that `keeper` keeps alive.
  static Ref<Storage> lend(std::byte* data, std::size_t bytes, std::shared_ptr<const void> keeper);

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  bool read_only() const { return read_only_; }
  /// True if exactly one handle exists, so that writing in place affects no other tensor.
  bool exclusive() const { return refs_.load(std::memory_order_acquire) == 1; }

 private:
  Storage(std::byte* data, std::size_t bytes, std::shared_ptr<const void> keeper, bool read_only)
      : data_(data), bytes_(bytes), keeper_(std::move(keeper)), read_only_(read_only) {}
  std::size_t block_bytes() const;

  std::atomic<std::int64_t> refs_{1};
  std::byte* data_;
  std::size_t bytes_;
  std::shared_ptr<const void> keeper_;  // null: the data follows this header
  bool read_only_;

  friend void retain(Storage* s) { s->refs_.fetch_add(1, std::memory_order_relaxed); }
  friend void release(Storage* s) noexcept;
};

}  // namespace heed

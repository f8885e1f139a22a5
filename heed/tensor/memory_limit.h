// A limit on the memory of tensors, while tensors are made whose sizes come from a file: a config
// may claim sizes that no machine has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "heed/base/error.h"

namespace heed {

/// While it lives, tensors that this thread makes count against the limit; beyond it heed::Error is
/// thrown with the message, before the memory is taken. Memory that is freed meanwhile still
/// counts.
class MemoryLimit {
 public:
  MemoryLimit(std::uint64_t bytes, std::string message)
      : left_(bytes), message_(std::move(message)), before_(std::exchange(current_, this)) {}
  ~MemoryLimit() { current_ = before_; }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// Called for every tensor that is made.
  static void count(std::size_t bytes) {
    if (current_ != nullptr) [[unlikely]]
      current_->take(bytes);
  }

 private:
  void take(std::size_t bytes) {
    // A tensor, and the module that it belongs to, take more than its elements.
    constexpr std::uint64_t kLeast = 4096;
    const std::uint64_t taken = std::max<std::uint64_t>(bytes, kLeast);
    HEED_CHECK(taken <= left_, "{}", message_);
    left_ -= taken;
  }

  std::uint64_t left_;
  std::string message_;
  MemoryLimit* before_;
  static inline constinit thread_local MemoryLimit* current_ = nullptr;
};

}  // namespace heed

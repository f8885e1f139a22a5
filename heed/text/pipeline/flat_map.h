// A hash map from 64-bit keys to small values with open addressing: faster than
// std::unordered_map, which follows a pointer per look-up. It only grows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heed::pipeline {

/// A map whose keys are all but kEmpty.
template <typename T>
class FlatMap {
 public:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  explicit FlatMap(std::size_t expected = 0) { resize(std::bit_ceil(expected * 2 + 8)); }

  const T* find(std::uint64_t key) const {
    for (std::size_t at = place(key);; at = (at + 1) & mask_) {
      if (slots_[at].first == key) return &slots_[at].second;
      if (slots_[at].first == kEmpty) return nullptr;
    }
  }
  /// The value of a key; a new one is T().
  T& operator[](std::uint64_t key) {
    if (count_ * 2 >= slots_.size()) resize(slots_.size() * 2);
    std::size_t at = place(key);
    while (slots_[at].first != key && slots_[at].first != kEmpty) at = (at + 1) & mask_;
    if (slots_[at].first == kEmpty) {
      slots_[at].first = key;
      ++count_;
    }
    return slots_[at].second;
  }
  std::size_t size() const { return count_; }

 private:
  using Slot = std::pair<std::uint64_t, T>;

  std::size_t place(std::uint64_t key) const {
    key *= 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(key ^ key >> 32) & mask_;
  }
  void resize(std::size_t size) {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(size, Slot{kEmpty, T()});
    mask_ = size - 1;
    for (Slot& slot : old) {
      if (slot.first == kEmpty) continue;
      std::size_t at = place(slot.first);
      while (slots_[at].first != kEmpty) at = (at + 1) & mask_;
      slots_[at] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

}  // namespace heed::pipeline

// An intrusive pointer: the object holds its reference count, so a tensor handle is one pointer and
// making one allocates nothing.
#pragma once

#include <utility>

namespace heed {

/// Shares ownership of a T through `retain(T*)` and `release(T*)`, found by argument-dependent
/// lookup; T may be incomplete; only declarations of the two are needed.
template <typename T>
class Ref {
 public:
  Ref() = default;
  /// Shares an object that another reference owns; increments its count.
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) retain(object_);
  }
  /// Takes over a reference that the caller owns; the count stays the same.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) release(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace heed

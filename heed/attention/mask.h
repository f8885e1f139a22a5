// Which keys a query may see, as a value: masks/ makes them, & and | compose them, and attention
// binds them to the sizes of a call. A default Mask hides nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heed/kernels/attention/program.h"

namespace heed {

/// A kind of mask; to be immutable, for masks share it.
class MaskImpl {
 public:
  virtual ~MaskImpl() = default;
  /// As in messages: the name of the function that makes it.
  virtual std::string name() const = 0;
  /// For the sizes of one call, throws heed::Error if it does not fit them. What is returned keeps
  /// alive all that it reads, but not the starts of `shape`.
  virtual std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const = 0;
};

/// The keys that queries may see.
class Mask {
 public:
  /// Every key.
  Mask() = default;
  explicit Mask(std::shared_ptr<const MaskImpl> impl) : impl_(std::move(impl)) {}

  bool everything() const { return impl_ == nullptr; }
  std::string name() const { return everything() ? "everything" : impl_->name(); }
  /// Null if nothing is hidden.
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const {
    return everything() ? nullptr : impl_->bind(shape);
  }

  /// What both let be seen.
  friend Mask operator&(const Mask& a, const Mask& b);
  /// What either lets be seen.
  friend Mask operator|(const Mask& a, const Mask& b);

 private:
  std::shared_ptr<const MaskImpl> impl_;
};

/// Makes a mask of a kind.
template <typename Impl, typename... Args>
Mask make_mask(Args&&... args) {
  return Mask(std::make_shared<const Impl>(std::forward<Args>(args)...));
}

}  // namespace heed

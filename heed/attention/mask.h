// Which keys a query may attend to, as a value: the functions of masks.h make masks, & and |
// compose them, and attention binds them to the sizes of a call. A default Mask hides nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heed/kernels/attention/program.h"

namespace heed {

/// The implementation of a mask; it must be immutable because masks share it.
class MaskImpl {
 public:
  virtual ~MaskImpl() = default;
  /// The name of the function that makes it, for messages.
  virtual std::string name() const = 0;
  /// Binds the mask to the sizes of one call; throws heed::Error if it does not fit them. The
  /// result keeps everything alive that it reads, except the starts of `shape`.
  virtual std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const = 0;
};

/// The keys that queries may attend to.
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

  /// Keys that are visible in both.
  friend Mask operator&(const Mask& a, const Mask& b);
  /// Keys that are visible in either.
  friend Mask operator|(const Mask& a, const Mask& b);

 private:
  std::shared_ptr<const MaskImpl> impl_;
};

/// Makes a mask with an implementation.
template <typename Impl, typename... Args>
Mask make_mask(Args&&... args) {
  return Mask(std::make_shared<const Impl>(std::forward<Args>(args)...));
}

}  // namespace heed

// A tensor: a typed, strided view of shared storage, and its node on the tape if it has one.
// Copying a Tensor copies the handle, never the data. Functions that make new tensors are free
// functions: tensor/create.h (fill, copy values), tensor/view.h (views without gradient), ops/
// (everything differentiable).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/dtype.h"
#include "heed/base/ref.h"
#include "heed/base/shape.h"
#include "heed/tensor/storage.h"

namespace heed {

class Node;  // autograd/node.h: the op that made a tensor; opaque in this layer
void retain(Node* node);
void release(Node* node) noexcept;

/// A handle to a strided, typed view of storage.
class Tensor {
 public:
  /// An undefined tensor; only defined() and assignment may be used on it.
  Tensor() = default;
  Tensor(Ref<Storage> storage, DType dtype, const Shape& shape, const Strides& strides,
         std::int64_t offset)
      : storage_(std::move(storage)),
        shape_(shape),
        strides_(strides),
        offset_(offset),
        dtype_(dtype) {}

  bool defined() const { return static_cast<bool>(storage_); }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  int rank() const { return shape_.rank(); }
  /// The size of an axis; negative axes count from the end.
  std::int64_t size(int axis) const { return shape_[resolve_axis("size", axis, rank())]; }
  std::int64_t numel() const { return heed::numel(shape_); }
  /// True if the elements are row-major without gaps.
  bool contiguous() const;

  /// The first element. T must be the C++ type of dtype(); throws heed::Error otherwise.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(raw(dtype_of<T>, false));
  }
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(raw(dtype_of<T>, true));
  }
  /// All elements of a contiguous tensor.
  template <typename T>
  std::span<const T> values() const {
    require_contiguous();
    return {data<T>(), static_cast<std::size_t>(numel())};
  }
  template <typename T>
  std::span<T> mutable_values() {
    require_contiguous();
    return {mutable_data<T>(), static_cast<std::size_t>(numel())};
  }
  /// The only element of a one-element tensor, as a double.
  double item() const;
  /// A copy of all elements in row-major order, for any strides: for tests, printing and Python.
  template <typename T>
  std::vector<T> to_vector() const;

  // The tape; defined in autograd/.
  /// Makes this tensor a leaf that collects its gradient (or, with false, no longer does), and
  /// returns it.
  Tensor& requires_grad(bool on = true);
  /// True for leaves that collect a gradient and for everything computed from them.
  bool tracks_grad() const { return static_cast<bool>(node_); }
  /// The gradient collected in a leaf; undefined before the first backward().
  Tensor grad() const;
  /// Replaces the collected gradient of a leaf, or clears it if `grad` is undefined.
  void set_grad(Tensor grad);
  /// Runs the tape backwards from this one-element tensor and adds to the gradient of every leaf.
  void backward() const;
  /// The same data, off the tape.
  Tensor detach() const;

  // For the layers that build tensors.
  const Ref<Storage>& storage() const { return storage_; }
  std::int64_t offset() const { return offset_; }
  const Ref<Node>& node() const { return node_; }
  int output_index() const { return output_; }
  void set_node(Ref<Node> node, int output) { node_ = std::move(node), output_ = output; }

 private:
  void* raw(DType expected, bool writing) const;
  void require_contiguous() const;

  Ref<Storage> storage_;
  Ref<Node> node_;
  Shape shape_;
  Strides strides_;
  std::int64_t offset_ = 0;  // elements
  int output_ = 0;           // which output of node_
  DType dtype_ = DType::f32;
};

}  // namespace heed

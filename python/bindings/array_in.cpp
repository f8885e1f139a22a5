// Converts array arguments to tensors.
#include <algorithm>
#include <cstring>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "python/bindings/array.h"
#include "python/bindings/foreign_memory.h"
#include "python/bindings/half.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

// Tries the fastest protocol first. NumPy supports DLPack too, but not for ml_dtypes.
ForeignMemory memory_of(const char* name, nb::handle object) {
  for (const auto way : {by_buffer, by_exchange, by_bits, by_dlpack}) {
    if (auto memory = way(name, object)) return std::move(*memory);
  }
  throw_type_error(
      "{}: {} is no array: give one that speaks DLPack or the buffer protocol, such as "
      "numpy.asarray({})",
      name, type_of(object), name);
}

// Whether a tensor can refer to the memory directly.
bool can_be_shown(const ForeignMemory& memory) {
  const auto bytes = static_cast<std::int64_t>(memory.element.bytes());
  const bool strides_fit = std::ranges::all_of(
      memory.steps, [&](std::int64_t step) { return step >= 0 && step % bytes == 0; });
  return !memory.element.half && strides_fit &&
         reinterpret_cast<std::uintptr_t>(memory.data) % memory.element.bytes() == 0;
}

// Calls f(address) with every element in row-major order.
template <typename F>
void for_each_element(const ForeignMemory& memory, const F& f) {
  if (numel(memory.shape) == 0) return;
  const int rank = memory.shape.rank();
  Dims at = Dims::filled(rank, 0);
  const std::byte* from = memory.data;
  for (;;) {
    f(from);
    int axis = rank - 1;
    while (axis >= 0 && ++at[axis] == memory.shape[axis]) {
      from -= (memory.shape[axis] - 1) * memory.steps[axis];
      at[axis--] = 0;
    }
    if (axis < 0) return;
    from += memory.steps[axis];
  }
}

Tensor copy_of(const ForeignMemory& memory) {
  Tensor copy = empty(memory.shape, memory.element.dtype);
  if (memory.element.half) {
    float* to = copy.mutable_data<float>();
    for_each_element(memory, [&](const std::byte* from) {
      Half value;
      std::memcpy(&value, from, sizeof(value));
      *to++ = static_cast<float>(value);
    });
  } else {
    const std::size_t bytes = memory.element.bytes();
    std::byte* to = copy.storage()->data();
    for_each_element(memory, [&](const std::byte* from) {
      std::memcpy(to, from, bytes);
      to += bytes;
    });
  }
  return copy;
}

enum class Access { read, write };

Tensor shown(ForeignMemory&& memory, Access access) {
  const auto bytes = static_cast<std::int64_t>(memory.element.bytes());
  Strides strides = memory.steps;
  std::int64_t span = numel(memory.shape) == 0 ? 0 : bytes;
  for (int axis = 0; axis < strides.rank(); ++axis) {
    if (span > 0) span += (memory.shape[axis] - 1) * memory.steps[axis];
    strides[axis] /= bytes;
  }
  // An empty array may have no memory, but a tensor needs some.
  if (span == 0) return empty(memory.shape, memory.element.dtype);
  const auto size = static_cast<std::size_t>(span);
  auto storage =
      access == Access::write
          ? Storage::lend(const_cast<std::byte*>(memory.data), size, std::move(memory.keeper))
          : Storage::borrow(memory.data, size, std::move(memory.keeper));
  return {std::move(storage), memory.element.dtype, memory.shape, strides, 0};
}

}  // namespace

std::string type_of(nb::handle object) { return nb::type_name(object.type()).c_str(); }

bool is_of(std::string_view package, nb::handle object) {
  const auto module = nb::cast<std::string>(object.type().attr("__module__"));
  return module == package || module.starts_with(std::string(package) + ".");
}

bool is_of_jax(nb::handle object) { return is_of("jax", object) || is_of("jaxlib", object); }

Array array_of(const char* name, nb::handle object) {
  ForeignMemory memory = memory_of(name, object);
  const bool half = memory.element.half;
  const DType dtype = memory.element.dtype;
  if (!can_be_shown(memory)) return {copy_of(memory), object, dtype, half};
  return {shown(std::move(memory), Access::read), object, dtype, half};
}

Tensor writable_tensor_of(const char* name, nb::handle object) {
  ForeignMemory memory = memory_of(name, object);
  // JAX's capsules do not mark the memory as read-only.
  if (memory.read_only || is_of_jax(object)) {
    throw_type_error("{}: the array is read-only: give one of your own", name);
  }
  if (!can_be_shown(memory)) {
    throw_type_error(
        "{}: heed cannot write to its memory as it is laid out: give an array of floats of 32 or "
        "64 bits, or bfloat16, that are aligned and without negative strides",
        name);
  }
  return shown(std::move(memory), Access::write);
}

void check_floats(const char* name, const Array& array) {
  if (!is_floating(array.dtype)) {
    throw_type_error("{}: {} elements: it must be floating point", name, name_of(array.dtype));
  }
}

Array floats_of(const char* name, nb::handle object) {
  Array array = array_of(name, object);
  check_floats(name, array);
  return array;
}

Tensor integers_of(const char* name, nb::handle object) {
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    std::vector<std::int64_t> values;
    for (const nb::handle item : nb::cast<nb::sequence>(object)) {
      std::int64_t value = 0;
      if (!nb::try_cast(item, value)) {
        throw_type_error("{}: {} is no whole number", name, nb::cast<std::string>(nb::repr(item)));
      }
      values.push_back(value);
    }
    return from_values(std::span<const std::int64_t>(values), {std::ssize(values)});
  }
  Tensor tensor = array_of(name, object).tensor;
  if (tensor.dtype() != DType::i32 && tensor.dtype() != DType::i64) {
    throw_type_error("{}: {} elements: it must be int32 or int64", name, name_of(tensor.dtype()));
  }
  return tensor;
}

bool elements_apart(const Tensor& x) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride and size
  for (int i = 0; i < x.rank(); ++i) {
    if (x.shape()[i] > 1) axes.emplace_back(x.strides()[i], x.shape()[i]);
  }
  std::ranges::sort(axes);
  std::int64_t last = 0;  // extent of the axes before
  for (const auto& [stride, size] : axes) {
    if (stride <= last) return false;
    last += stride * (size - 1);
  }
  return true;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  const auto begin = [](const Tensor& x) {
    return x.storage()->data() + x.offset() * static_cast<std::int64_t>(size_of(x.dtype()));
  };
  const auto end = [&](const Tensor& x) {
    std::int64_t last = 0;
    for (int i = 0; i < x.rank(); ++i) last += (x.shape()[i] - 1) * x.strides()[i];
    return begin(x) + (last + 1) * static_cast<std::int64_t>(size_of(x.dtype()));
  };
  if (a.numel() == 0 || b.numel() == 0) return false;
  return begin(a) < end(b) && begin(b) < end(a);
}

}  // namespace heed::python

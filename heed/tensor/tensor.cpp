#include "heed/tensor/tensor.h"

#include "heed/tensor/copy.h"

namespace heed {

bool Tensor::contiguous() const {
  if (numel() == 0) return true;
  std::int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] != 1 && strides_[i] != expected) return false;
    expected *= shape_[i];
  }
  return true;
}

void* Tensor::raw(DType expected, bool writing) const {
  HEED_CHECK(defined(), "[tensor] the tensor is undefined: assign one before reading its data");
  HEED_CHECK(dtype_ == expected, "[tensor] the data is {}, not {}: use cast(x, DType::{})",
             name_of(dtype_), name_of(expected), name_of(expected));
  HEED_CHECK(
      !writing || !storage_->read_only(),
      "[tensor] the data belongs to a read-only file: use clone(x) to get a copy of your own");
  return storage_->data() + offset_ * static_cast<std::int64_t>(size_of(dtype_));
}

void Tensor::require_contiguous() const {
  HEED_CHECK(
      contiguous(),
      "[tensor] a view of shape {} and strides {} is not contiguous: use contiguous(x) first",
      to_string(shape_), to_string(strides_));
}

double Tensor::item() const {
  HEED_CHECK(defined() && numel() == 1,
             "[item] a tensor of shape {} has {} elements: item() reads one", to_string(shape_),
             defined() ? numel() : 0);
  return visit_dtype(dtype_, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, BFloat16>) {
      return static_cast<double>(static_cast<float>(*data<T>()));
    } else {
      return static_cast<double>(*data<T>());
    }
  });
}

template <typename T>
std::vector<T> Tensor::to_vector() const {
  const Tensor packed = contiguous_copy(*this);
  const T* const first = packed.data<T>();
  return std::vector<T>(first, first + packed.numel());
}

#define HEED_X(name, type, file_name) template std::vector<type> Tensor::to_vector<type>() const;
HEED_DTYPES(HEED_X)
#undef HEED_X

Tensor Tensor::detach() const { return {storage_, dtype_, shape_, strides_, offset_}; }

}  // namespace heed

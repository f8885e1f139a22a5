#include "heed/kernels/choose.h"

#include "heed/base/dtype.h"

namespace heed::kernels {

template <typename T>
void compare(Compare op, const Nest<3>& nest, const T* a, const T* b, bool* y) {
  const auto with = [&](auto holds) {
    const auto inner = static_cast<std::size_t>(nest.rank - 1);
    const std::int64_t sa = nest.strides[0][inner];
    const std::int64_t sb = nest.strides[1][inner];
    const std::int64_t sy = nest.strides[2][inner];
    for_each_run(nest, 1, [&](const Run<3>& run) {
      for (std::int64_t i = 0; i < run.length; ++i) {
        y[run.at[2] + i * sy] = holds(a[run.at[0] + i * sa], b[run.at[1] + i * sb]);
      }
    });
  };
  switch (op) {
#define HEED_X(name, symbol) \
  case Compare::name:        \
    return with([](T u, T v) { return u symbol v; });
    HEED_COMPARISONS(HEED_X)
#undef HEED_X
  }
}

template <typename T>
void select(const Nest<4>& nest, const bool* condition, const T* a, const T* b, T* y) {
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  const std::int64_t sc = nest.strides[0][inner];
  const std::int64_t sa = nest.strides[1][inner];
  const std::int64_t sb = nest.strides[2][inner];
  const std::int64_t sy = nest.strides[3][inner];
  for_each_run(nest, 1, [&](const Run<4>& run) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      y[run.at[3] + i * sy] =
          condition[run.at[0] + i * sc] ? a[run.at[1] + i * sa] : b[run.at[2] + i * sb];
    }
  });
}

#define HEED_X(name, type, file_name) \
  template void select(const Nest<4>&, const bool*, const type*, const type*, type*);
HEED_DTYPES(HEED_X)
#undef HEED_X

template void compare(Compare, const Nest<3>&, const float*, const float*, bool*);
template void compare(Compare, const Nest<3>&, const double*, const double*, bool*);
template void compare(Compare, const Nest<3>&, const std::int32_t*, const std::int32_t*, bool*);
template void compare(Compare, const Nest<3>&, const std::int64_t*, const std::int64_t*, bool*);
template void compare(Compare, const Nest<3>&, const std::uint8_t*, const std::uint8_t*, bool*);
template void compare(Compare, const Nest<3>&, const bool*, const bool*, bool*);

}  // namespace heed::kernels

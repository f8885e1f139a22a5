// The header for SIMD kernels (Highway). A kernel's file looks like this and is compiled once per
// instruction set (replace softmax.cpp by its own name):
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "heed/kernels/softmax.cpp"
//   #include "heed/kernels/foreach_target.h"  // before simd.h and every *-inl.h
//
//   #include "heed/kernels/simd.h"
//
//   HWY_BEFORE_NAMESPACE();
//   namespace heed::kernels::HWY_NAMESPACE {
//   namespace {                               // names of kernels must not collide
//   void softmax_rows(...) { ... }            // SIMD code
//   }  // namespace
//   }  // namespace heed::kernels::HWY_NAMESPACE
//   HWY_AFTER_NAMESPACE();
//
//   #if HWY_ONCE
//   namespace heed::kernels {
//   HWY_EXPORT(softmax_rows);
//   void softmax(...) { HEED_DISPATCH(softmax_rows)(...); }
//   }  // namespace heed::kernels
//   #endif
//
// Highway's per-target guard replaces `#pragma once`, because each pass must read this file again.
#if defined(HEED_KERNELS_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_H_
#undef HEED_KERNELS_SIMD_H_
#else
#define HEED_KERNELS_SIMD_H_
#endif

#include "heed/kernels/targets.h"
//
#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

#include "heed/base/isa.h"

/// The version of an exported function for the current instruction set (heed/base/isa.h).
#ifndef HEED_DISPATCH
#define HEED_DISPATCH(function) (::heed::detail::ensure_isa(), HWY_DYNAMIC_DISPATCH(function))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The tail of an array: its last n elements, fewer than a vector holds. On targets without masked
// instructions, Highway's masked loads may touch memory after the array, so those targets use a
// copy.

/// Loads n < Lanes(d) elements from p; the other lanes are 0.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const T* HWY_RESTRICT p, std::size_t n) {
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) >= 4 || HWY_TARGET <= HWY_AVX3) {
    return hn::MaskedLoad(hn::FirstN(d, n), d, p);
  }
#endif
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)] = {};
  std::memcpy(lanes, p, n * sizeof(T));
  return hn::Load(d, lanes);
}

/// Stores the first n < Lanes(d) lanes to p and touches nothing after them.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void StoreFirst(hn::Vec<D> v, D d, T* HWY_RESTRICT p, std::size_t n) {
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) >= 4 || HWY_TARGET <= HWY_AVX3) {
    hn::BlendedStore(v, hn::FirstN(d, n), d, p);
    return;
  }
#endif
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, lanes);
  std::memcpy(p, lanes, n * sizeof(T));
}

/// Stores a whole vector. With kStream the store bypasses the caches, and p must be aligned to a
/// vector.
template <bool kStream, class D, typename T = hn::TFromD<D>>
HWY_INLINE void StoreWhole(hn::Vec<D> v, D d, T* HWY_RESTRICT p) {
  if constexpr (kStream) {
    hn::Stream(v, d, p);
  } else {
    hn::StoreU(v, d, p);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

// heed.KVCache: the keys and values of the positions so far.
#include "heed/attention/cache.h"

#include <mutex>
#include <shared_mutex>

#include "heed/attention/decode.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "python/bindings/array.h"
#include "python/bindings/bind.h"
#include "python/bindings/request.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

DType dtype_by_name(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    if (name == name_of(dtype)) return dtype;
  }
  fail("[KVCache] dtype '{}': give 'f32', 'bf16' or 'f64'", name);
}

// A copy, since the next change of the cache may change its memory; NumPy has no bf16.
nb::object copy_of(const Tensor& x) {
  return to_numpy(x.dtype() == DType::bf16 ? cast_data(x, DType::f32) : clone_data(x));
}

/// A cache that is not changed while a thread attends to it. Its content is read and changed with
/// the interpreter's lock held; only attending releases it, and takes a lock of the cache instead.
/// No thread waits for a lock of the cache while it holds the interpreter's: the thread that has
/// the former may need the latter, for the function of a mask.
class SharedCache {
 public:
  explicit SharedCache(KvCache cache) : cache_(std::move(cache)) {}
  const KvCache& operator*() const { return cache_; }
  const KvCache* operator->() const { return &cache_; }

  template <typename F>
  void change(const F& f) {
    const auto writing = take<std::unique_lock<std::shared_mutex>>();
    f(cache_);
  }
  std::shared_lock<std::shared_mutex> lock_for_reading() const {
    return take<std::shared_lock<std::shared_mutex>>();
  }

 private:
  // Whoever waits for the mutex holds the turn, so that readers cannot keep a writer out.
  template <typename Lock>
  Lock take() const {
    std::unique_lock turn(turn_, std::try_to_lock);
    Lock lock(mutex_, std::defer_lock);
    if (turn.owns_lock() && lock.try_lock()) return lock;
    const Unlocked released;
    if (!turn.owns_lock()) turn.lock();
    lock.lock();
    return lock;
  }

  KvCache cache_;
  mutable std::mutex turn_;
  mutable std::shared_mutex mutex_;
};

nb::object attend(const SharedCache& cache, Arguments arguments) {
  const NoGrad no_grad;
  arguments.cache = &*cache;
  const Request request(arguments, Recording::off);
  auto reading = cache.lock_for_reading();
  const DType dtype = request.query().tensor.dtype();
  Tensor output;
  {
    const Unlocked unlocked;
    // Released before the interpreter's lock is taken again, also if an exception is thrown, so
    // that a thread that waits to change the cache can go on at once.
    const auto held = std::move(reading);
    const Request::Prepared ready = request.prepare();
    const Tensor q = dtype == DType::bf16 ? cast_data(ready.q, DType::f32) : ready.q;
    output = cast_data(attention_decode(q, *cache, ready.spec), dtype);
  }
  return to_array(output, request.query());
}

}  // namespace

void bind_cache(nb::module_& m) {
  nb::class_<SharedCache>(
      m, "KVCache",
      "The keys and values of the positions so far: appended at the end, removed from the end "
      "or, with a window, from the front, and reordered for beam search.")
      .def(
          "__init__",
          [](SharedCache* self, std::int64_t batch, std::int64_t heads, std::int64_t features,
             std::int64_t value_features, const std::string& dtype, std::int64_t capacity,
             std::optional<std::int64_t> window) {
            new (self) SharedCache(KvCache({.batch = batch,
                                            .heads = heads,
                                            .features = features,
                                            .value_features = value_features,
                                            .dtype = dtype_by_name(dtype),
                                            .capacity = capacity,
                                            .window = window}));
          },
          nb::kw_only(), nb::arg("batch") = 1, nb::arg("heads"), nb::arg("features"),
          nb::arg("value_features") = 0, nb::arg("dtype") = "f32", nb::arg("capacity") = 0,
          nb::arg("window") = nb::none())
      .def(
          "append",
          [](SharedCache& self, nb::handle k, nb::handle v) {
            const Tensor keys = array_of("k", k).tensor, values = array_of("v", v).tensor;
            self.change([&](KvCache& cache) { cache.append(keys, values); });
          },
          nb::arg("k"), nb::arg("v"), "Adds positions: k [B, G, T, D] and v [B, G, T, Dv].")
      .def(
          "attend",
          [](const SharedCache& self, nb::handle q, nb::handle score, nb::handle modifiers,
             nb::handle mask, nb::handle normaliser, std::optional<Real> scale) {
            return attend(self, {.q = q,
                                 .score = score,
                                 .modifiers = modifiers,
                                 .mask = mask,
                                 .normaliser = normaliser,
                                 .scale = scale});
          },
          nb::arg("q"), nb::kw_only(), nb::arg("score") = "scaled_dot",
          nb::arg("modifiers") = nb::tuple(), nb::arg("mask") = nb::none(),
          nb::arg("normaliser") = "softmax", nb::arg("scale") = nb::none(),
          "Attention of q [B, H, Tq, D] to all kept positions, H a multiple of G. Append the keys "
          "and "
          "values of the new positions first; for more than one query give "
          "mask=heed.causal('bottom_right').")
      .def(
          "rewind",
          [](SharedCache& self, std::int64_t n) {
            self.change([&](KvCache& cache) { cache.rewind(n); });
          },
          nb::arg("n"), "Removes the last n positions.")
      .def(
          "truncate",
          [](SharedCache& self, std::int64_t position) {
            self.change([&](KvCache& cache) { cache.truncate(position); });
          },
          nb::arg("position"),
          "Removes the positions from this one on, counted from the first one ever appended.")
      .def(
          "clear", [](SharedCache& self) { self.change([](KvCache& cache) { cache.clear(); }); },
          "Removes all positions but keeps the memory.")
      .def(
          "reorder",
          [](SharedCache& self, const std::vector<std::int64_t>& from) {
            self.change([&](KvCache& cache) { cache.reorder(from); });
          },
          nb::arg("from_"), "Sequence i becomes the former sequence from_[i].")
      .def(
          "clone", [](const SharedCache& self) { return new SharedCache(self->clone()); },
          "A separate cache with the same content.")
      .def(
          "__len__", [](const SharedCache& self) { return self->length(); }, "Positions kept.")
      .def_prop_ro(
          "length", [](const SharedCache& self) { return self->length(); }, "Positions kept.")
      .def_prop_ro(
          "first_position", [](const SharedCache& self) { return self->first_position(); },
          "The first position kept, which is the number of positions that a window has evicted.")
      .def_prop_ro("batch", [](const SharedCache& self) { return self->batch(); })
      .def_prop_ro(
          "nbytes", [](const SharedCache& self) { return self->bytes(); }, "Bytes of memory held.")
      .def_prop_ro(
          "keys", [](const SharedCache& self) { return copy_of(self->keys()); },
          "A copy of the keys kept, [B, G, length, D].")
      .def_prop_ro(
          "values", [](const SharedCache& self) { return copy_of(self->values()); },
          "A copy of the values kept, [B, G, length, Dv].");
}

}  // namespace heed::python

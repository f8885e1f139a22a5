// segments: queries attend to keys of the same id.
#include "heed/attention/masks.h"

#include <algorithm>

#include "heed/attention/masks/interval.h"
#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

using kernels::Cover;
using kernels::Region;

// Ids [B, T] as contiguous i64.
struct Ids {
  Tensor tensor;

  explicit Ids(const Tensor& ids) : tensor(contiguous_copy(cast_data(ids.detach(), DType::i64))) {}
  std::int64_t length() const { return tensor.size(1); }
  const std::int64_t* of(std::int64_t batch) const {
    return tensor.data<std::int64_t>() + batch * length();
  }
  bool sorted() const {
    for (std::int64_t b = 0; b < tensor.size(0); ++b) {
      if (!std::is_sorted(of(b), of(b) + length())) return false;
    }
    return true;
  }
};

class SortedSegments : public IntervalVisibility<SortedSegments> {
 public:
  SortedSegments(Ids queries, Ids keys) : queries_(std::move(queries)), keys_(std::move(keys)) {}
  Interval interval(std::int64_t batch, std::int64_t row) const {
    const std::int64_t* const keys = keys_.of(batch);
    const auto [first, last] =
        std::equal_range(keys, keys + keys_.length(), queries_.of(batch)[row]);
    return {first - keys, last - keys};
  }

 private:
  Ids queries_, keys_;
};

class MixedSegments : public kernels::Visibility {
 public:
  MixedSegments(Ids queries, Ids keys) : queries_(std::move(queries)), keys_(std::move(keys)) {}

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const override {
    std::fill_n(first, region.rows, region.col);
    std::fill_n(last, region.rows, region.col + region.cols);
    return false;
  }
  Cover cover(const Region& region) const override {
    if (region.rows == 0 || region.cols == 0) return Cover::none;
    const std::int64_t* const q = queries_.of(region.batch) + region.row;
    const std::int64_t* const k = keys_.of(region.batch) + region.col;
    const auto [q_least, q_most] = std::minmax_element(q, q + region.rows);
    const auto [k_least, k_most] = std::minmax_element(k, k + region.cols);
    if (*q_most < *k_least || *k_most < *q_least) return Cover::none;
    return *q_least == *q_most && *k_least == *k_most ? Cover::all : Cover::some;
  }
  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const override {
    const std::int64_t* const q = queries_.of(region.batch) + region.row;
    for (std::int64_t c = 0; c < region.cols; ++c) {
      const std::int64_t id = keys_.of(region.batch)[region.col + c];
      for (std::int64_t r = 0; r < region.rows; ++r) visible[c * stride + r] = q[r] == id;
    }
  }

 private:
  Ids queries_, keys_;
};

class Segments : public MaskImpl {
 public:
  Segments(const Tensor& q_ids, const Tensor& k_ids)
      : queries_(q_ids), keys_(k_ids), sorted_(keys_.sorted()) {}
  std::string name() const override { return "segments"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    check("q_ids", queries_, {shape.B, shape.Tq});
    check("k_ids", keys_, {shape.B, shape.Tk});
    if (sorted_) return std::make_unique<SortedSegments>(queries_, keys_);
    return std::make_unique<MixedSegments>(queries_, keys_);
  }

 private:
  static void check(const char* what, const Ids& ids, const Shape& needed) {
    HEED_CHECK(ids.tensor.shape() == needed, "[attention] {} of segments {}: this call needs {}",
               what, to_string(ids.tensor.shape()), to_string(needed));
  }
  Ids queries_, keys_;
  bool sorted_;
};

void check_ids(const char* what, const Tensor& ids) {
  HEED_CHECK(ids.rank() == 2, "[segments] {} {}: ids must be [B, T]", what, to_string(ids.shape()));
  visit_index("segments", ids.dtype(), [](auto) {});
}

}  // namespace

Mask segments(const Tensor& q_ids, const Tensor& k_ids) {
  check_ids("q_ids", q_ids);
  check_ids("k_ids", k_ids);
  return make_mask<Segments>(q_ids, k_ids);
}

Mask segments(const Tensor& ids) { return segments(ids, ids); }

}  // namespace heed

// boolean_mask: the elements of a tensor, packed into bits.
#include "heed/attention/masks.h"

#include <algorithm>
#include <cstring>

#include "heed/base/error.h"
#include "heed/kernels/attention/mask_bits.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

using kernels::Cover;
using kernels::Region;

using kernels::kMaskRows;
using kernels::MaskRow;

// Byte i of the result is bit i of the byte.
std::uint64_t spread(std::uint8_t byte) {
  constexpr std::uint64_t kEach = 0x0101010101010101, kDiagonal = 0x8040201008040201;
  return ((byte * kEach & kDiagonal) + 0x7f * kEach) >> 7 & kEach;
}

// A mask [B, H, Tq, Tk] in bits, where B, H and Tq may be 1 for all. Of all rows of a broadcast Tq,
// one byte of ones or zeros is kept.
class PackedElements : public kernels::Visibility {
 public:
  explicit PackedElements(const Tensor& visible)
      : B_(visible.size(0)), H_(visible.size(1)), rows_(visible.size(2)), cols_(visible.size(3)) {
    constexpr std::int64_t kWidest = 16;  // queries of a vector; kernels read whole vectors
    groups_ = rows_ == 1 ? 1 : (rows_ + kWidest - 1) / kWidest * (kWidest / kMaskRows);
    bytes_ = empty({B_, H_, groups_, cols_}, DType::u8);
    ranges_ = empty({B_ * H_ * rows_, 3}, DType::i64);
    const Tensor x = contiguous_copy(visible);
    kernels::pack_mask({.data = reinterpret_cast<const std::uint8_t*>(x.data<bool>()),
                        .rows = rows_,
                        .head_stride = rows_ * cols_,
                        .row_stride = cols_},
                       {bytes_.mutable_data<std::uint8_t>(), B_ * H_, groups_, cols_},
                       reinterpret_cast<MaskRow*>(ranges_.mutable_data<std::int64_t>()));
    if (rows_ > 1) return;
    for (std::uint8_t& byte : bytes_.mutable_values<std::uint8_t>()) byte = byte != 0 ? 0xff : 0;
  }

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const override {
    bool exact = true;
    const std::int64_t begin = region.col, end = region.col + region.cols;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const MaskRow& row = range(region, r);
      first[r] = std::clamp(row.first, begin, end);
      last[r] = std::clamp(row.last, first[r], end);
      exact = exact && row.last - row.first == row.count;
    }
    return exact;
  }

  Cover cover(const Region& region) const override {
    bool any = false, all = true;
    const auto [bytes, stride] = bits(region.batch, region.head);
    for (std::int64_t r = 0; r < region.rows;) {
      const std::int64_t row = region.row + r, at = row % kMaskRows;
      const std::int64_t n = std::min(region.rows - r, kMaskRows - at);
      const auto wanted = static_cast<std::uint8_t>(((1 << n) - 1) << at);
      const std::uint8_t* const from = bytes + row / kMaskRows * stride + region.col;
      for (std::int64_t c = 0; c < region.cols; ++c) {
        any |= (from[c] & wanted) != 0;
        all &= (from[c] & wanted) == wanted;
      }
      if (any && !all) return Cover::some;
      r += n;
    }
    return any ? Cover::all : Cover::none;
  }

  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const override {
    const auto [bytes, group] = bits(region.batch, region.head);
    for (std::int64_t r = 0; r < region.rows;) {
      const std::int64_t row = region.row + r, at = row % kMaskRows;
      const std::int64_t n = std::min(region.rows - r, kMaskRows - at);
      const std::uint8_t* const from = bytes + row / kMaskRows * group + region.col;
      for (std::int64_t c = 0; c < region.cols; ++c) {
        const std::uint64_t eight = spread(from[c]) >> 8 * at;
        std::memcpy(visible + c * stride + r, &eight, static_cast<std::size_t>(n));
      }
      r += n;
    }
  }

  Bits bits(std::int64_t batch, std::int64_t head) const override {
    return {bytes_.data<std::uint8_t>() + this->head(batch, head) * groups_ * cols_,
            rows_ == 1 ? 0 : cols_};
  }

 private:
  std::int64_t head(std::int64_t batch, std::int64_t h) const {
    return (B_ == 1 ? 0 : batch) * H_ + (H_ == 1 ? 0 : h);
  }
  const MaskRow& range(const Region& region, std::int64_t r) const {
    const std::int64_t row = rows_ == 1 ? 0 : region.row + r;
    return reinterpret_cast<const MaskRow*>(
        ranges_.data<std::int64_t>())[head(region.batch, region.head) * rows_ + row];
  }

  std::int64_t B_, H_, rows_, cols_;
  std::int64_t groups_;  // of rows
  Tensor bytes_;         // u8 [B, H, groups, cols]
  Tensor ranges_;        // MaskRow [B, H, rows]
};

class BooleanMask : public MaskImpl {
 public:
  explicit BooleanMask(const Tensor& visible) : given_(visible) {}
  std::string name() const override { return "boolean_mask"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    const Shape needed{shape.B, shape.H, shape.Tq, shape.Tk};
    Tensor visible = given_;
    while (visible.rank() < 4) visible = view::unsqueeze(visible, 0);
    for (int axis = 0; axis < 4; ++axis) {
      HEED_CHECK(visible.size(axis) == needed[axis] || visible.size(axis) == 1,
                 "[attention] boolean_mask {} does not broadcast to [B, H, Tq, Tk] = {}",
                 to_string(given_.shape()), to_string(needed));
    }
    // A broadcast key axis is expanded.
    if (shape.Tk != 1 && visible.size(3) == 1) {
      visible =
          view::expand(visible, {visible.size(0), visible.size(1), visible.size(2), shape.Tk});
    }
    return std::make_unique<PackedElements>(visible);
  }

 private:
  Tensor given_;
};

}  // namespace

Mask boolean_mask(const Tensor& visible) {
  HEED_CHECK(
      visible.dtype() == DType::boolean,
      "[boolean_mask] the mask is {}: it must be boolean, true where a query may attend to a key",
      name_of(visible.dtype()));
  HEED_CHECK(visible.rank() <= 4, "[boolean_mask] the mask {}: at most [B, H, Tq, Tk]",
             to_string(visible.shape()));
  return make_mask<BooleanMask>(visible);
}

}  // namespace heed

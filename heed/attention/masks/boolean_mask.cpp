// boolean_mask: the elements of a tensor, read eight at a time.
#include "heed/attention/masks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

using kernels::Cover;
using kernels::Region;

static_assert(std::endian::native == std::endian::little, "the first byte must be the lowest");
constexpr std::uint64_t kAllVisible = 0x0101010101010101;

// Loads up to eight bytes; the others are 0.
std::uint64_t load(const std::uint8_t* from, std::int64_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, static_cast<std::size_t>(std::min<std::int64_t>(bytes, 8)));
  return word;
}

// Byte c of word r becomes byte r of word c: blocks of 4, 2 and 1 change places.
void transpose(std::array<std::uint64_t, 8>& words) {
  const auto exchange = [&](std::size_t step, std::uint64_t mask) {
    for (std::size_t i = 0; i < 8; ++i) {
      if ((i & step) != 0) continue;
      const std::uint64_t change = ((words[i] >> (8 * step)) ^ words[i + step]) & mask;
      words[i + step] ^= change;
      words[i] ^= change << (8 * step);
    }
  };
  exchange(4, 0x00000000ffffffff);
  exchange(2, 0x0000ffff0000ffff);
  exchange(1, 0x00ff00ff00ff00ff);
}

// The range of visible keys of a row, and their number.
struct Found {
  std::int64_t first = 0, last = 0, count = 0;
};

Found find(const std::uint8_t* row, std::int64_t cols) {
  Found found;
  for (std::int64_t c = 0; c < cols; c += 8) {
    const std::uint64_t word = load(row + c, cols - c);
    if (word == 0) continue;
    if (found.count == 0) found.first = c + std::countr_zero(word) / 8;
    found.last = c + 8 - std::countl_zero(word) / 8;
    found.count += std::popcount(word);
  }
  return found;
}

// Elements [B, H, Tq, Tk]; broadcast axes have stride 0.
class Elements : public kernels::Visibility {
 public:
  explicit Elements(Tensor visible) : tensor_(std::move(visible)), strides_(tensor_.strides()) {
    for (int axis = 0; axis < 4; ++axis) {
      if (tensor_.size(axis) == 1) strides_[axis] = 0;
    }
  }

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const override {
    bool exact = true;
    Found found;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      if (r == 0 || strides_[2] != 0) found = find(row(region, r), region.cols);
      first[r] = region.col + found.first;
      last[r] = region.col + found.last;
      exact = exact && found.last - found.first == found.count;
    }
    return exact;
  }

  Cover cover(const Region& region) const override {
    std::uint64_t any = 0, all = kAllVisible;
    for (std::int64_t r = 0; r < distinct_rows(region); ++r) {
      const std::uint8_t* const from = row(region, r);
      for (std::int64_t c = 0; c < region.cols; c += 8) {
        const std::uint64_t word = load(from + c, region.cols - c);
        any |= word;
        all &= region.cols - c < 8 ? word | kAllVisible << 8 * (region.cols - c) : word;
      }
      if (any != 0 && all != kAllVisible) return Cover::some;
    }
    return any == 0 ? Cover::none : Cover::all;
  }

  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const override {
    if (strides_[2] == 0) {
      const std::uint8_t* const from = row(region, 0);
      for (std::int64_t c = 0; c < region.cols; ++c) {
        std::memset(visible + c * stride, from[c], static_cast<std::size_t>(region.rows));
      }
      return;
    }
    for (std::int64_t c = 0; c < region.cols; c += 8) {
      for (std::int64_t r = 0; r < region.rows; r += 8)
        fill_square(region, {r, c}, visible, stride);
    }
  }

 private:
  struct At {
    std::int64_t row, col;
  };

  const std::uint8_t* row(const Region& region, std::int64_t r) const {
    return reinterpret_cast<const std::uint8_t*>(tensor_.data<bool>()) +
           region.batch * strides_[0] + region.head * strides_[1] + (region.row + r) * strides_[2] +
           region.col;
  }
  std::int64_t distinct_rows(const Region& region) const {
    return strides_[2] == 0 ? std::min<std::int64_t>(region.rows, 1) : region.rows;
  }
  void fill_square(const Region& region, At at, std::uint8_t* visible, std::int64_t stride) const {
    const std::int64_t rows = std::min<std::int64_t>(region.rows - at.row, 8);
    const std::int64_t cols = std::min<std::int64_t>(region.cols - at.col, 8);
    std::array<std::uint64_t, 8> words{};
    for (std::int64_t r = 0; r < rows; ++r) {
      words[static_cast<std::size_t>(r)] = load(row(region, at.row + r) + at.col, cols);
    }
    transpose(words);
    for (std::int64_t c = 0; c < cols; ++c) {
      std::memcpy(visible + (at.col + c) * stride + at.row, &words[static_cast<std::size_t>(c)],
                  static_cast<std::size_t>(rows));
    }
  }

  Tensor tensor_;
  Strides strides_;
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
    // Keys must be contiguous; a broadcast key axis is expanded.
    if (shape.Tk != 1 && visible.size(3) == 1) {
      visible =
          view::expand(visible, {visible.size(0), visible.size(1), visible.size(2), shape.Tk});
    }
    if (visible.size(3) != 1 && visible.strides()[3] != 1) visible = contiguous_copy(visible);
    return std::make_unique<Elements>(visible);
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

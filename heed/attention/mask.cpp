#include "heed/attention/mask.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "heed/attention/masks/pieces.h"
#include "heed/base/error.h"

namespace heed {
namespace {

using kernels::AttentionShape;
using kernels::Cover;
using kernels::Region;
using kernels::Visibility;

// Two masks as one; Self::join combines their intervals, covers and bytes.
template <typename Self>
class Pair : public Visibility {
 public:
  Pair(std::unique_ptr<Visibility> a, std::unique_ptr<Visibility> b)
      : a_(std::move(a)), b_(std::move(b)) {}

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const final {
    bool exact = a_->intervals(region, first, last);
    std::array<std::int64_t, kPieceRows> other_first, other_last;
    for_each_rows(region, [&](const Region& piece, std::int64_t r0) {
      exact = b_->intervals(piece, other_first.data(), other_last.data()) && exact;
      for (std::int64_t r = 0; r < piece.rows; ++r) {
        const auto i = static_cast<std::size_t>(r);
        exact = Self::join(first[r0 + r], last[r0 + r], other_first[i], other_last[i]) && exact;
      }
    });
    return exact;
  }

  Cover cover(const Region& region) const final {
    const Cover a = a_->cover(region);
    return a == Self::kDecides ? a : Self::join(a, b_->cover(region));
  }

  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const final {
    a_->fill(region, visible, stride);
    std::array<std::uint8_t, static_cast<std::size_t>(kPieceRows * kPieceCols)> other;
    for_each_piece(region, [&](const Region& piece, std::int64_t r0, std::int64_t c0) {
      b_->fill(piece, other.data(), kPieceRows);
      for (std::int64_t c = 0; c < piece.cols; ++c) {
        std::uint8_t* const to = visible + (c0 + c) * stride + r0;
        const std::uint8_t* const from = other.data() + c * kPieceRows;
        for (std::int64_t r = 0; r < piece.rows; ++r) to[r] = Self::join(to[r], from[r]);
      }
    });
  }

 private:
  std::unique_ptr<Visibility> a_, b_;
};

class Both : public Pair<Both> {
 public:
  using Pair::Pair;
  static constexpr const char* kSign = " & ";
  static constexpr Cover kDecides = Cover::none;
  static bool join(std::int64_t& first, std::int64_t& last, std::int64_t other_first,
                   std::int64_t other_last) {
    first = std::max(first, other_first);
    last = std::max(first, std::min(last, other_last));
    return true;
  }
  static Cover join(Cover a, Cover b) { return std::min(a, b); }
  static std::uint8_t join(std::uint8_t a, std::uint8_t b) { return a & b; }
};

class Either : public Pair<Either> {
 public:
  using Pair::Pair;
  static constexpr const char* kSign = " | ";
  static constexpr Cover kDecides = Cover::all;
  static bool join(std::int64_t& first, std::int64_t& last, std::int64_t other_first,
                   std::int64_t other_last) {
    if (other_first == other_last) return true;
    const bool alone = first == last;
    const bool gap = !alone && (other_first > last || first > other_last);
    first = alone ? other_first : std::min(first, other_first);
    last = alone ? other_last : std::max(last, other_last);
    return !gap;
  }
  static Cover join(Cover a, Cover b) { return std::max(a, b); }
  static std::uint8_t join(std::uint8_t a, std::uint8_t b) { return a | b; }
};

static_assert(Cover::none < Cover::some && Cover::some < Cover::all);

template <typename Joined>
class Composed : public MaskImpl {
 public:
  Composed(Mask a, Mask b) : a_(std::move(a)), b_(std::move(b)) {}
  std::string name() const override {
    return fmt::format("({}{}{})", a_.name(), Joined::kSign, b_.name());
  }
  std::unique_ptr<Visibility> bind(const AttentionShape& shape) const override {
    return std::make_unique<Joined>(a_.bind(shape), b_.bind(shape));
  }

 private:
  Mask a_, b_;
};

}  // namespace

Mask operator&(const Mask& a, const Mask& b) {
  if (a.everything()) return b;
  if (b.everything()) return a;
  return make_mask<Composed<Both>>(a, b);
}

Mask operator|(const Mask& a, const Mask& b) {
  if (a.everything() || b.everything()) return {};
  return make_mask<Composed<Either>>(a, b);
}

}  // namespace heed

#include "heed/kernels/attention/plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "heed/base/error.h"

namespace heed::kernels {

void KeyPlan::Strips::add(const Strip& strip) {
  if (count_ > 0) {  // one long strip of open keys is faster than many short ones
    Strip& before = strips_[count_ - 1];
    if (strip.kind == Strip::Kind::open && before.kind == Strip::Kind::open &&
        before.joins(strip)) {
      before.cols += strip.cols;
      return;
    }
  }
  HEED_ASSERT(count_ < strips_.size());
  strips_[count_++] = strip;
}

KeyPlan::KeyPlan(const Visibility* mask, Region region, std::int64_t lanes)
    : mask_(mask),
      region_(region),
      lanes_(lanes),
      vectors_((region.rows + lanes - 1) / lanes),
      begin_(0),
      end_(region.cols),
      open_begin_(0),
      open_end_(region.cols) {
  if (mask == nullptr) return;
  HEED_ASSERT(region.rows > 0 && vectors_ * lanes <= kMaxBlockRows);
  HEED_ASSERT(region.cols <= std::numeric_limits<std::int32_t>::max());
  read_intervals();
}

void KeyPlan::read_intervals() {
  std::array<std::int64_t, kMaxBlockRows> first, last;
  exact_ = mask_->intervals(region_, first.data(), last.data());
  begin_ = region_.cols;
  end_ = 0;
  for (std::int64_t v = 0; v < vectors_; ++v) {
    Bounds bounds{std::numeric_limits<std::int32_t>::max(), 0,
                  std::numeric_limits<std::int32_t>::max(), 0};
    for (std::int64_t r = v * lanes_; r < (v + 1) * lanes_; ++r) {
      const auto i = static_cast<std::size_t>(std::min(r, region_.rows - 1));
      const auto from = static_cast<std::int32_t>(first[i]);
      const auto to = static_cast<std::int32_t>(last[i]);
      first_[static_cast<std::size_t>(r)] = from;
      last_[static_cast<std::size_t>(r)] = to;
      bounds.add(from, to);
      if (from == to) continue;
      begin_ = std::min<std::int64_t>(begin_, from);
      end_ = std::max<std::int64_t>(end_, to);
    }
    open_begin_ = std::max<std::int64_t>(open_begin_, bounds.most_first);
    open_end_ = std::min<std::int64_t>(open_end_, bounds.least_last);
    bounds_[static_cast<std::size_t>(v)] = bounds;
  }
  end_ = std::max(begin_, end_);
  // One or two more keys in a masked strip cost less than a product of one or two rows.
  open_begin_ = (open_begin_ + kStripKeys - 1) / kStripKeys * kStripKeys;
  if (open_end_ < end_) open_end_ = open_end_ / kStripKeys * kStripKeys;
}

void KeyPlan::cut(std::int64_t from, std::int64_t to, Strips& strips) const {
  if (mask_ == nullptr) return strips.add({from, to - from, 0, vectors_, Strip::Kind::open});
  exact_ ? cut_exact(from, to, strips) : cut_mixed(from, to, strips);
}

Cover KeyPlan::cover(std::int64_t vector, std::int64_t from, std::int64_t to) const {
  const Bounds& b = bounds_[static_cast<std::size_t>(vector)];
  if (b.most_first <= from && b.least_last >= to) return Cover::all;
  return b.least_first >= to || b.most_last <= from ? Cover::none : Cover::some;
}

void KeyPlan::cut_exact(std::int64_t from, std::int64_t to, Strips& strips) const {
  while (from < to) {
    std::int64_t end = std::min(to, (from / kStripKeys + 1) * kStripKeys);
    if (from >= open_begin_ && from < open_end_) {
      end = std::min(to, open_end_);
      strips.add({from, end - from, 0, vectors_, Strip::Kind::open});
    } else if (const std::int64_t change = next_change(from); change >= end + kStripKeys) {
      end = std::min(to, change / kStripKeys * kStripKeys);
      cut_long(from, end, strips);
    } else {
      std::int64_t v0 = 0, v1 = vectors_;
      while (v0 < v1 && cover(v0, from, end) == Cover::none) ++v0;
      while (v0 < v1 && cover(v1 - 1, from, end) == Cover::none) --v1;
      if (v0 < v1) strips.add({from, end - from, v0, v1 - v0, Strip::Kind::edge});
    }
    from = end;
  }
}

// The next key at which the interval of a row may begin or end; `from` itself where the rows of one
// vector differ.
std::int64_t KeyPlan::next_change(std::int64_t from) const {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t v = 0; v < vectors_; ++v) {
    const Bounds& b = bounds_[static_cast<std::size_t>(v)];
    for (const auto& [least, most] :
         {std::pair{b.least_first, b.most_first}, std::pair{b.least_last, b.most_last}}) {
      if (from < most) next = std::min(next, std::max<std::int64_t>(from, least));
    }
  }
  return next;
}

// A range of keys in which no interval begins or ends, such as where sequences meet within the
// block. Vectors for which all of it is visible and those for which a part is become separate
// strips.
void KeyPlan::cut_long(std::int64_t from, std::int64_t to, Strips& strips) const {
  for (std::int64_t v = 0; v < vectors_;) {
    const Cover kind = cover(v, from, to);
    std::int64_t next = v + 1;
    while (next < vectors_ && cover(next, from, to) == kind) ++next;
    if (kind != Cover::none) {
      strips.add({from, to - from, v, next - v,
                  kind == Cover::all ? Strip::Kind::open : Strip::Kind::edge});
    }
    v = next;
  }
}

void KeyPlan::cut_mixed(std::int64_t from, std::int64_t to, Strips& strips) const {
  Region region = region_;
  region.col = from;
  region.cols = to - from;
  // If visible keys are far apart, most tiles are hidden as a whole.
  const Cover whole = mask_->cover(region);
  if (whole == Cover::none) return;
  if (whole == Cover::all) return strips.add({from, to - from, 0, vectors_, Strip::Kind::open});
  while (from < to) {
    const std::int64_t end = std::min(to, (from / kStripKeys + 1) * kStripKeys);
    region.col = from;
    region.cols = end - from;
    const Cover kind = mask_->cover(region);
    if (kind != Cover::none) {
      strips.add({from, end - from, 0, vectors_,
                  kind == Cover::all ? Strip::Kind::open : Strip::Kind::mixed});
    }
    from = end;
  }
}

}  // namespace heed::kernels

#include "heed/kernels/attention/plan.h"

#include <algorithm>

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

KeyPlan::KeyPlan(const Visibility* see, Region region, std::int64_t lanes)
    : see_(see),
      region_(region),
      lanes_(lanes),
      vectors_((region.rows + lanes - 1) / lanes),
      begin_(0),
      end_(region.cols),
      open_begin_(0),
      open_end_(region.cols) {
  if (see == nullptr) return;
  HEED_ASSERT(region.rows > 0 && vectors_ * lanes <= kMaxBlockRows);
  exact_ = see->intervals(region, first_.data(), last_.data());
  std::fill(first_.data() + region.rows, first_.data() + vectors_ * lanes,
            first_[static_cast<std::size_t>(region.rows - 1)]);
  std::fill(last_.data() + region.rows, last_.data() + vectors_ * lanes,
            last_[static_cast<std::size_t>(region.rows - 1)]);
  begin_ = region.cols;
  end_ = 0;
  for (std::int64_t r = 0; r < region.rows; ++r) {
    const auto i = static_cast<std::size_t>(r);
    open_begin_ = std::max(open_begin_, first_[i]);
    open_end_ = std::min(open_end_, last_[i]);
    if (first_[i] == last_[i]) continue;
    begin_ = std::min(begin_, first_[i]);
    end_ = std::max(end_, last_[i]);
  }
  end_ = std::max(begin_, end_);
  // A key or two more in a strip with a mask cost less than a product of one or two rows.
  open_begin_ = (open_begin_ + kStripKeys - 1) / kStripKeys * kStripKeys;
  if (open_end_ < end_) open_end_ = open_end_ / kStripKeys * kStripKeys;
}

void KeyPlan::cut(std::int64_t from, std::int64_t to, Strips& strips) const {
  if (see_ == nullptr) return strips.add({from, to - from, 0, vectors_, Strip::Kind::open});
  exact_ ? cut_exact(from, to, strips) : cut_mixed(from, to, strips);
}

Cover KeyPlan::cover(std::int64_t vector, std::int64_t from, std::int64_t to) const {
  const std::int64_t* const first = first_.data() + vector * lanes_;
  const std::int64_t* const last = last_.data() + vector * lanes_;
  bool all = true, none = true;
  for (std::int64_t r = 0; r < lanes_; ++r) {
    all = all && first[r] <= from && last[r] >= to;
    none = none && (first[r] >= to || last[r] <= from);
  }
  return all ? Cover::all : none ? Cover::none : Cover::some;
}

void KeyPlan::cut_exact(std::int64_t from, std::int64_t to, Strips& strips) const {
  while (from < to) {
    if (from >= open_begin_ && from < open_end_) {
      const std::int64_t end = std::min(to, open_end_);
      strips.add({from, end - from, 0, vectors_, Strip::Kind::open});
      from = end;
      continue;
    }
    const std::int64_t end = std::min(to, (from / kStripKeys + 1) * kStripKeys);
    std::int64_t v0 = 0, v1 = vectors_;
    while (v0 < v1 && cover(v0, from, end) == Cover::none) ++v0;
    while (v0 < v1 && cover(v1 - 1, from, end) == Cover::none) --v1;
    if (v0 < v1) strips.add({from, end - from, v0, v1 - v0, Strip::Kind::edge});
    from = end;
  }
}

void KeyPlan::cut_mixed(std::int64_t from, std::int64_t to, Strips& strips) const {
  Region region = region_;
  while (from < to) {
    const std::int64_t end = std::min(to, (from / kStripKeys + 1) * kStripKeys);
    region.col = from;
    region.cols = end - from;
    const Cover kind = see_->cover(region);
    if (kind != Cover::none) {
      strips.add({from, end - from, 0, vectors_,
                  kind == Cover::all ? Strip::Kind::open : Strip::Kind::mixed});
    }
    from = end;
  }
}

}  // namespace heed::kernels

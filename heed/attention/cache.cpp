#include "heed/attention/cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

constexpr std::int64_t kLeastCapacity = 16;

// With capacity for twice the window, the kept positions move to the front once per window.
std::int64_t most_capacity(std::int64_t window) {
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 40;
  return 2 * std::min(window, kNoLimit);
}

Tensor positions(const Tensor& buffer, std::int64_t first, std::int64_t count) {
  return view::slice(buffer, 2, first, first + count);
}

void copy_to(Tensor to, const Tensor& from) { copy_into(to, from); }

// A buffer [B, G, capacity, D] that begins with the kept positions.
Tensor with_room(const Tensor& kept, std::int64_t capacity) {
  Tensor buffer = empty({kept.size(0), kept.size(1), capacity, kept.size(3)}, kept.dtype());
  copy_to(positions(buffer, 0, kept.size(2)), kept);
  return buffer;
}

// A buffer whose sequence i begins with the kept positions of sequence from[i].
Tensor spread(const Tensor& kept, std::span<const std::int64_t> from, std::int64_t capacity) {
  const auto slots = static_cast<std::int64_t>(from.size());
  Tensor buffer = empty({slots, kept.size(1), capacity, kept.size(3)}, kept.dtype());
  const Tensor to = positions(buffer, 0, kept.size(2));
  for (std::int64_t i = 0; i < slots; ++i) {
    copy_to(view::select(to, 0, i), view::select(kept, 0, from[static_cast<std::size_t>(i)]));
  }
  return buffer;
}

// One step of a reordering; kAside is a temporary slot.
struct Move {
  std::int64_t from, to;
};
constexpr std::int64_t kAside = -1;

// The steps after which slot i has the former content of slot from[i]. A slot is written once no
// other slot needs its content; when only cycles remain, one slot of each is copied to kAside.
std::vector<Move> plan_moves(std::span<const std::int64_t> from, std::int64_t slots) {
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const auto count = static_cast<std::int64_t>(from.size());
  std::vector<std::int64_t> source(index(slots)), waiting(index(slots), 0), ready;
  for (std::int64_t i = 0; i < slots; ++i) source[index(i)] = i < count ? from[index(i)] : i;
  for (std::int64_t i = 0; i < count; ++i) {
    if (source[index(i)] != i) ++waiting[index(source[index(i)])];
  }
  const auto make_ready = [&](std::int64_t i) {
    if (waiting[index(i)] == 0 && source[index(i)] != i) ready.push_back(i);
  };
  for (std::int64_t i = 0; i < count; ++i) make_ready(i);

  std::vector<Move> moves;
  while (!ready.empty()) {
    const std::int64_t to = ready.back();
    ready.pop_back();
    const std::int64_t done = std::exchange(source[index(to)], to);
    moves.push_back({done, to});
    --waiting[index(done)];
    make_ready(done);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (source[index(i)] == i) continue;
    moves.push_back({i, kAside});
    for (std::int64_t to = i; source[index(to)] != to;) {
      const std::int64_t next = std::exchange(source[index(to)], to);
      moves.push_back({next == i ? kAside : next, to});
      to = next;
    }
  }
  return moves;
}

}  // namespace

KvCache::KvCache(const KvCacheConfig& config) : batch_(config.batch), window_(config.window) {
  const std::int64_t Dv = config.value_features == 0 ? config.features : config.value_features;
  HEED_CHECK(config.batch >= 0, "[kv_cache] batch {}: it must be 0 or more", config.batch);
  HEED_CHECK(config.heads > 0 && config.features > 0 && Dv > 0,
             "[kv_cache] heads {}, features {}, value_features {}: each must be 1 or more",
             config.heads, config.features, config.value_features);
  HEED_CHECK(is_floating(config.dtype), "[kv_cache] dtype {}: a cache holds f32, f64 or bf16",
             name_of(config.dtype));
  HEED_CHECK(config.capacity >= 0, "[kv_cache] capacity {}: it must be 0 or more", config.capacity);
  HEED_CHECK(!config.window || *config.window > 0,
             "[kv_cache] window {}: it must be 1 or more; leave it out to keep every position",
             config.window.value_or(0));
  const std::int64_t capacity =
      config.window ? std::min(config.capacity, most_capacity(*config.window)) : config.capacity;
  keys_ = empty({config.batch, config.heads, capacity, config.features}, config.dtype);
  values_ = empty({config.batch, config.heads, capacity, Dv}, config.dtype);
}

KvCache KvCache::clone() const {
  KvCache copy;
  copy.keys_ = clone_data(keys());
  copy.values_ = clone_data(values());
  copy.batch_ = batch_;
  copy.length_ = length_;
  copy.first_position_ = first_position_;
  copy.window_ = window_;
  return copy;
}

void KvCache::check(const char* name, const Tensor& x, const Tensor& buffer) const {
  const Shape& shape = x.shape();
  HEED_CHECK(shape.rank() == 4 && shape[0] == batch_ && shape[1] == buffer.size(1) &&
                 shape[3] == buffer.size(3),
             "[kv_cache] {} has shape {}: this cache takes [{}, {}, T, {}]", name, to_string(shape),
             batch_, buffer.size(1), buffer.size(3));
  HEED_CHECK(is_floating(x.dtype()), "[kv_cache] {} is {}: use cast({}, DType::f32)", name,
             name_of(x.dtype()), name);
}

void KvCache::append(const Tensor& k, const Tensor& v) {
  check("k", k, keys_);
  check("v", v, values_);
  const std::int64_t given = k.size(2);
  HEED_CHECK(v.size(2) == given, "[kv_cache] k has {} positions, v has {}: they must be as many",
             given, v.size(2));
  const std::int64_t added = std::min(given, window_.value_or(given));
  const std::int64_t before = window_ ? std::min(length_, *window_ - added) : length_;
  make_room(before, added);
  first_position_ += length_ - before + given - added;
  length_ = before + added;
  copy_to(positions(keys(), before, added), positions(k, given - added, added));
  copy_to(positions(values(), before, added), positions(v, given - added, added));
}

// Keeps the last `last` positions and makes room for `added` more after them.
void KvCache::make_room(std::int64_t last, std::int64_t added) {
  const std::int64_t first = start_ + length_ - last;
  if (first + last + added <= capacity()) {
    start_ = first;
    return;
  }
  if (window_ && capacity() == most_capacity(*window_)) {
    for (const Tensor& buffer : {keys_, values_}) {
      const Tensor used = view::slice(buffer, 0, 0, batch_);
      copy_to(positions(used, 0, last), positions(used, first, last));
    }
  } else {
    std::int64_t room = std::max({2 * capacity(), last + added, kLeastCapacity});
    if (window_) room = std::min(room, most_capacity(*window_));
    Tensor k = with_room(positions(keys(), length_ - last, last), room);
    values_ = with_room(positions(values(), length_ - last, last), room);
    keys_ = std::move(k);
  }
  start_ = 0;
}

void KvCache::rewind(std::int64_t n) {
  HEED_CHECK(n >= 0 && n <= length_,
             "[kv_cache] rewind by {}: {} positions are kept{}, give a number from 0 to that", n,
             length_, first_position_ > 0 ? " (others were evicted by the window)" : "");
  length_ -= n;
}

void KvCache::truncate(std::int64_t position) {
  const std::int64_t end = first_position_ + length_;
  HEED_CHECK(position >= first_position_ && position <= end,
             "[kv_cache] truncate at {}: positions [{}, {}) are kept, give one of these or {}",
             position, first_position_, end, end);
  rewind(end - position);
}

void KvCache::clear() { start_ = length_ = first_position_ = 0; }

void KvCache::reorder(std::span<const std::int64_t> from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    HEED_CHECK(from[i] >= 0 && from[i] < batch_,
               "[kv_cache] from[{}] is {}: the batch has {} sequences, numbered from 0", i, from[i],
               batch_);
  }
  const auto count = static_cast<std::int64_t>(from.size());
  if (count <= slots()) {
    move_slots(from);
  } else {
    Tensor k = spread(keys(), from, capacity());
    values_ = spread(values(), from, capacity());
    keys_ = std::move(k);
    start_ = 0;
  }
  batch_ = count;
}

void KvCache::move_slots(std::span<const std::int64_t> from) {
  const std::vector<Move> moves = plan_moves(from, slots());
  for (const Tensor& buffer : {keys_, values_}) {
    const Tensor used = positions(buffer, start_, length_);
    Tensor aside;
    for (const Move& move : moves) {
      if (move.to == kAside) {
        aside = clone_data(view::select(used, 0, move.from));
        continue;
      }
      copy_to(view::select(used, 0, move.to),
              move.from == kAside ? aside : view::select(used, 0, move.from));
    }
  }
}

Tensor KvCache::kept(const Tensor& buffer) const {
  return positions(view::slice(buffer, 0, 0, batch_), start_, length_);
}

std::size_t KvCache::bytes() const {
  return static_cast<std::size_t>(keys_.numel() + values_.numel()) * size_of(dtype());
}

}  // namespace heed

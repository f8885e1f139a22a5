#include "heed/attention/variants/lsh_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/attention/variants/lsh_scores.h"
#include "heed/tensor/create.h"

namespace heed {

LshState::LshState(const LshStateSizes& sizes)
    : sizes_(sizes),
      cache_({.batch = sizes.batch,
              .heads = sizes.heads,
              .features = sizes.features,
              .dtype = sizes.dtype}),
      held_(static_cast<std::size_t>(sizes.batch * lines() * sizes.buckets)),
      newest_(static_cast<std::size_t>(sizes.batch * lines())) {}

void LshState::reorder(std::span<const std::int64_t> from) {
  cache_.reorder(from);
  std::vector<Positions> held;
  std::vector<std::int64_t> newest;
  for (const std::int64_t b : from) {
    const auto first = held_.begin() + b * lines() * sizes_.buckets;
    held.insert(held.end(), first, first + lines() * sizes_.buckets);
    const auto bucket = newest_.begin() + b * lines();
    newest.insert(newest.end(), bucket, bucket + lines());
  }
  held_ = std::move(held);
  newest_ = std::move(newest);
}

void LshState::append(const Tensor& keys, const Tensor& values, const Tensor& buckets) {
  const std::int64_t before = cache_.length(), T = buckets.size(3);
  cache_.append(keys, values);
  for (std::int64_t n = 0; n < buckets.numel(); ++n) {
    const std::int64_t line = n / T, bucket = buckets.data<std::int64_t>()[n];  // of [B, R, H]
    held_[static_cast<std::size_t>(line * sizes_.buckets + bucket)].push_back(before + n % T);
    newest_[static_cast<std::size_t>(line)] = bucket;
  }
}

const LshState::Positions& LshState::held(std::int64_t line, std::int64_t bucket) const {
  return held_[static_cast<std::size_t>(line * sizes_.buckets + bucket)];
}

std::int64_t LshState::bucket_of_newest(std::int64_t line) const {
  return newest_[static_cast<std::size_t>(line)];
}

// The positions at places [first, last) of a line's order.
void LshState::append_places(std::int64_t line, std::int64_t first, std::int64_t last,
                             Positions& to) const {
  std::int64_t start = 0;
  for (std::int64_t bucket = 0; bucket < sizes_.buckets && start < last; ++bucket) {
    const Positions& here = held(line, bucket);
    const std::int64_t size = std::ssize(here);
    const std::int64_t from = std::clamp<std::int64_t>(first - start, 0, size);
    const std::int64_t end = std::clamp<std::int64_t>(last - start, 0, size);
    to.insert(to.end(), here.begin() + from, here.begin() + end);
    start += size;
  }
}

LshState::Positions LshState::seen_in(std::int64_t batch, std::int64_t round,
                                      std::int64_t head) const {
  const std::int64_t line = batch * lines() + round * sizes_.heads + head;
  const std::int64_t bucket = bucket_of_newest(line), chunk = sizes_.chunk;
  const Positions& here = held(line, bucket);  // the newest is the last of its bucket
  const std::int64_t size = std::ssize(here);
  if (sizes_.reach == LshReach::bucket) {
    return {here.end() - std::min(chunk + 1, size), here.end()};
  }
  std::int64_t start = 0;  // the first place of the bucket
  for (std::int64_t b = 0; b < bucket; ++b) start += std::ssize(held(line, b));
  const std::int64_t place = start + size - 1, first = place / chunk * chunk;
  if (sizes_.reach == LshReach::chunk) {
    return {here.end() - (place + 1 - std::max(start, first - chunk)), here.end()};
  }
  Positions seen;
  const std::int64_t all = length();
  if (first == 0 && all > chunk) {  // the last chunk of the round before
    const std::int64_t other = (round + sizes_.rounds - 1) % sizes_.rounds;
    append_places(batch * lines() + other * sizes_.heads + head, (all - 1) / chunk * chunk, all,
                  seen);
  }
  append_places(line, first - chunk, first + chunk, seen);
  return seen;
}

// In how many rounds a position is visible. Where this is asked, positions are sorted.
std::int64_t LshState::rounds_with(std::span<const Positions> of_rounds,
                                   std::int64_t position) const {
  if (!sizes_.unique) return 1;
  return std::ranges::count_if(
      of_rounds, [&](const Positions& seen) { return std::ranges::binary_search(seen, position); });
}

LshState::Seen LshState::seen_by_newest() const {
  const std::int64_t B = cache_.keys().size(0), R = sizes_.rounds, H = sizes_.heads;
  std::vector<Positions> all;  // [B, H, R]
  std::size_t most = 0;
  for (std::int64_t n = 0; n < B * H * R; ++n) {
    all.push_back(seen_in(n / (H * R), n % R, n / R % H));
    most = std::max(most, all.back().size());
  }
  const std::int64_t newest = length() - 1, width = static_cast<std::int64_t>(most);
  Seen seen{full({B, H, R, width}, static_cast<double>(newest), DType::i64),
            empty({B, H * R, 1}, DType::i64),
            {}};
  std::vector<double> bias(all.size() * most, 0.0);
  for (std::size_t n = 0; n < all.size(); ++n) {
    std::ranges::copy(
        all[n], seen.positions.mutable_data<std::int64_t>() + static_cast<std::int64_t>(n) * width);
    seen.count.mutable_data<std::int64_t>()[n] = std::ssize(all[n]);
    const std::span<const Positions> of_rounds(&all[n - n % static_cast<std::size_t>(R)],
                                               static_cast<std::size_t>(R));
    for (std::size_t i = 0; i < all[n].size(); ++i) {
      bias[n * most + i] = -std::log(static_cast<double>(rounds_with(of_rounds, all[n][i])));
      if (all[n][i] == newest) bias[n * most + i] += kLshSelfScore;
    }
  }
  seen.bias = from_values<double>(bias, {B, H * R, width});
  return seen;
}

}  // namespace heed

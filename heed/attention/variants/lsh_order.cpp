#include "heed/attention/variants/lsh_order.h"

#include <algorithm>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor lsh_directions(const LshDirections& of) {
  Generator generator(of.seed);
  return lsh_directions(of, generator);
}

Tensor lsh_directions(const LshDirections& of, Generator& generator) {
  return normal({of.heads, of.features, of.rounds * of.width()}, 0.0, 1.0, generator);
}

namespace {

// argmax of [x, -x]; the first if several are equal.
template <typename T>
std::int64_t nearest_direction(const T* x, std::int64_t half) {
  std::int64_t most = 0, least = 0;
  for (std::int64_t i = 1; i < half; ++i) {
    if (x[i] > x[most]) most = i;
    if (x[i] < x[least]) least = i;
  }
  return x[most] >= -x[least] ? most : half + least;
}

// Positions whose products with the directions are in memory at a time.
constexpr std::int64_t kPositionsAtOnce = 2048;

}  // namespace

Tensor lsh_buckets(const Tensor& x, const Tensor& directions, std::int64_t rounds,
                   std::int64_t factor) {
  const NoGrad off;
  const std::int64_t B = x.size(0), H = x.size(1), T = x.size(2);
  const std::int64_t width = directions.size(2) / rounds, second = factor / 2;
  const std::int64_t half = width - second;
  if (width == 0) return zeros({B, rounds, H, T}, DType::i64);  // one bucket
  Tensor buckets = empty({B, rounds, H, T}, DType::i64);
  const Tensor matrix = cast_data(directions, x.dtype());  // [H, D, R width]
  for (std::int64_t begin = 0; begin < T; begin += kPositionsAtOnce) {
    const std::int64_t count = std::min(kPositionsAtOnce, T - begin);
    const Tensor turned =
        contiguous(matmul(slice(x.detach(), 2, begin, begin + count), matrix));  // [B, H, t, R w]
    visit_float("lsh", x.dtype(), [&](auto zero) {
      using Number = decltype(zero);
      parallel_for(B * H, count * rounds * width, [&](std::int64_t line) {
        const std::int64_t b = line / H, h = line % H;
        for (std::int64_t n = 0; n < count * rounds; ++n) {
          const std::int64_t t = n / rounds, r = n % rounds;
          const Number* const at = turned.data<Number>() + (line * count * rounds + n) * width;
          std::int64_t bucket = nearest_direction(at, half);
          if (second > 0) bucket += 2 * half * nearest_direction(at + half, second);
          buckets.mutable_data<std::int64_t>()[((b * rounds + r) * H + h) * T + begin + t] = bucket;
        }
      });
    });
  }
  return buckets;
}

namespace {

// One row of the order: T positions, of which the first `there` are not hidden.
struct Line {
  std::int64_t T, there;
  const std::int64_t* bucket;
  std::int64_t *order, *place, *first, *last;
};

using Starts = Scratch<std::int64_t>;  // one for each bucket and one more

// A counting sort: stable, and linear in T.
void sort_line(const Line& line, const Starts& starts) {
  std::fill_n(starts.data(), starts.size(), 0);
  for (std::int64_t t = 0; t < line.there; ++t) {
    ++starts[line.bucket[t] + 1];
  }
  for (std::int64_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
  for (std::int64_t t = 0; t < line.T; ++t) {
    const std::int64_t s = t < line.there ? starts[line.bucket[t]]++ : t;
    line.order[s] = t;
    line.place[t] = s;
  }
}

// starts[b] is now the end of bucket b, which is the start of the next.
void see_line(const Line& line, const Starts& starts, const LshSight& sight) {
  for (std::int64_t s = 0; s < line.there; ++s) {
    const std::int64_t bucket = line.bucket[line.order[s]];
    const std::int64_t begin = bucket == 0 ? 0 : starts[bucket - 1], end = starts[bucket];
    const std::int64_t chunk = s / sight.chunk * sight.chunk;  // its first place
    if (sight.reach == LshReach::mixed) {                      // the keys begin with one more chunk
      line.first[s] = chunk;
      line.last[s] = chunk + 2 * sight.chunk;
      continue;
    }
    const bool moves = sight.causal && sight.reach == LshReach::bucket;
    line.first[s] = std::max(begin, (moves ? s : chunk) - sight.chunk);
    line.last[s] = sight.causal ? s + 1 : std::min(end, chunk + sight.chunk);
  }
  std::fill(line.first + line.there, line.first + line.T, 0);
  std::fill(line.last + line.there, line.last + line.T, 0);
}

}  // namespace

LshOrder lsh_order(const Tensor& buckets, const Tensor& lengths, const LshSight& sight) {
  HEED_ASSERT(buckets.contiguous() && sight.chunk >= 1 && sight.buckets >= 1);
  const std::int64_t T = buckets.size(3), each = buckets.size(1) * buckets.size(2);
  const auto made = [&] { return empty(buckets.shape(), DType::i64); };  // [B, R, H, T]
  LshOrder result{made(), made(), made(), made()};
  const auto at = [&](Tensor& x, std::int64_t n) { return x.mutable_data<std::int64_t>() + n * T; };
  const std::vector<std::int64_t> known =
      lengths.defined() ? lengths.to_vector<std::int64_t>()
                        : std::vector<std::int64_t>(static_cast<std::size_t>(buckets.size(0)), T);
  parallel_for(buckets.size(0) * each, 8 * T + sight.buckets, [&](std::int64_t n) {
    const Starts starts(sight.buckets + 1);
    const Line line{T,
                    known[static_cast<std::size_t>(n / each)],
                    buckets.data<std::int64_t>() + n * T,
                    at(result.order, n),
                    at(result.place, n),
                    at(result.first, n),
                    at(result.last, n)};
    sort_line(line, starts);
    see_line(line, starts, sight);
  });
  return result;
}

Tensor lsh_mixed_keys(const LshOrder& order, std::int64_t chunk) {
  const std::int64_t B = order.order.size(0), R = order.order.size(1);
  const std::int64_t H = order.order.size(2), T = order.order.size(3);
  Tensor keys = full({B, R, H, chunk + T}, -1.0, DType::i64);
  const std::int64_t last_chunk = T <= chunk ? T : (T - 1) / chunk * chunk;
  for (std::int64_t n = 0; n < B * R * H; ++n) {
    const std::int64_t b = n / (R * H), r = n / H % R, h = n % H;
    const std::int64_t before = (b * R + (r + R - 1) % R) * H + h;  // the line of the round before
    const auto* const all = order.order.data<std::int64_t>();
    std::int64_t* const to = keys.mutable_data<std::int64_t>() + n * (chunk + T);
    std::copy(all + before * T + last_chunk, all + (before + 1) * T, to);
    std::copy(all + n * T, all + (n + 1) * T, to + chunk);
  }
  return keys;
}

}  // namespace heed

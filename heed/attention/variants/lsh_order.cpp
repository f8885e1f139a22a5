#include "heed/attention/variants/lsh_order.h"

#include <algorithm>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/order.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor lsh_directions(const LshDirections& of) {
  Generator generator(of.seed);
  return normal({of.heads, of.features, of.rounds * (of.buckets / 2)}, 0.0, 1.0, generator);
}

Tensor lsh_buckets(const Tensor& x, const Tensor& directions, std::int64_t rounds) {
  const NoGrad off;
  const std::int64_t B = x.size(0), H = x.size(1), T = x.size(2);
  const std::int64_t half = directions.size(2) / rounds;
  if (half == 0) return zeros({B, rounds, H, T}, DType::i64);                  // one bucket
  const Tensor turned = matmul(x.detach(), cast_data(directions, x.dtype()));  // [B, H, T, R half]
  const Tensor each = reshape(turned, {B, H, T, rounds, half});
  const Tensor bucket = argmax(concat({each, -each}, 4), 4);  // [B, H, T, R]
  return contiguous(permute(bucket, {0, 3, 1, 2}));           // [B, R, H, T]
}

namespace {

// One row of the order: T positions, of which the first `there` are not hidden.
struct Line {
  std::int64_t T, there;
  const std::int64_t* bucket;
  std::int64_t *order, *place, *first, *last;
};

// A counting sort: stable, and linear in T. `starts` has one element for each bucket and one more.
void sort_line(const Line& line, std::vector<std::int64_t>& starts) {
  std::fill(starts.begin(), starts.end(), 0);
  for (std::int64_t t = 0; t < line.there; ++t) {
    ++starts[static_cast<std::size_t>(line.bucket[t]) + 1];
  }
  for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
  for (std::int64_t t = 0; t < line.T; ++t) {
    const std::int64_t s = t < line.there ? starts[static_cast<std::size_t>(line.bucket[t])]++ : t;
    line.order[s] = t;
    line.place[t] = s;
  }
}

// starts[b] is now the end of bucket b, which is the start of the next.
void see_line(const Line& line, const std::vector<std::int64_t>& starts, const LshReach& reach) {
  for (std::int64_t s = 0; s < line.there; ++s) {
    const auto bucket = static_cast<std::size_t>(line.bucket[line.order[s]]);
    const std::int64_t begin = bucket == 0 ? 0 : starts[bucket - 1], end = starts[bucket];
    const std::int64_t chunk = s / reach.chunk * reach.chunk;  // its first place
    line.first[s] = std::max(begin, reach.causal ? s - reach.chunk : chunk - reach.chunk);
    line.last[s] = reach.causal ? s + 1 : std::min(end, chunk + reach.chunk);
  }
  std::fill(line.first + line.there, line.first + line.T, 0);
  std::fill(line.last + line.there, line.last + line.T, 0);
}

}  // namespace

LshOrder lsh_order(const Tensor& buckets, const Tensor& lengths, const LshReach& reach) {
  HEED_ASSERT(buckets.contiguous() && reach.chunk >= 1 && reach.buckets >= 1);
  const std::int64_t T = buckets.size(3), each = buckets.size(1) * buckets.size(2);
  const auto made = [&] { return empty(buckets.shape(), DType::i64); };  // [B, R, H, T]
  LshOrder result{made(), made(), made(), made()};
  const auto at = [&](Tensor& x, std::int64_t n) { return x.mutable_data<std::int64_t>() + n * T; };
  const std::vector<std::int64_t> known =
      lengths.defined() ? lengths.to_vector<std::int64_t>()
                        : std::vector<std::int64_t>(static_cast<std::size_t>(buckets.size(0)), T);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(reach.buckets) + 1);
  for (std::int64_t n = 0; n < buckets.size(0) * each; ++n) {
    const Line line{T,
                    known[static_cast<std::size_t>(n / each)],
                    buckets.data<std::int64_t>() + n * T,
                    at(result.order, n),
                    at(result.place, n),
                    at(result.first, n),
                    at(result.last, n)};
    sort_line(line, starts);
    see_line(line, starts, reach);
  }
  return result;
}

}  // namespace heed

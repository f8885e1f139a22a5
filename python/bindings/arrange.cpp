#include "python/bindings/arrange.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/ops/view.h"

namespace heed::python {
namespace {

constexpr int kRank = 4;

// The axes of a shape before the last two, preceded by axes of size 1 up to the number wanted.
Shape lead_of(const Tensor& x, int axes) {
  Shape lead = Dims::filled(axes, 1);
  const int own = x.rank() - 2;
  for (int i = 0; i < own; ++i) lead[axes - own + i] = x.shape()[i];
  return lead;
}

Shape joined(const Shape& lead, std::int64_t rows, std::int64_t columns) {
  Shape shape = lead;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

Shape batch_of(const Shape& lead) {
  return Shape(lead.span().first(static_cast<std::size_t>(lead.rank() - 1)));
}

// x with that batch and that many heads, [B, heads, rows, columns].
Tensor with_lead(const Tensor& x, const Shape& batch, std::int64_t heads) {
  const std::int64_t rows = x.size(-2), columns = x.size(-1);
  Shape lead = batch;
  lead.push_back(heads);
  const Shape wanted = joined(lead, rows, columns);
  const Tensor stretched = x.shape() == wanted ? x : expand(x, wanted);
  if (stretched.rank() == kRank) return stretched;
  return reshape(stretched, {numel(batch), heads, rows, columns});
}

// Repeats each head `times` times, adjacent to each other.
Tensor repeat_heads(const Tensor& x, std::int64_t times) {
  if (times == 1) return x;
  Shape shape = x.shape();
  const int heads = x.rank() - 3;
  shape.insert(heads + 1, times);
  const Tensor repeated = expand(unsqueeze(x, heads + 1), shape);
  Shape flat = x.shape();
  flat[heads] *= times;
  return reshape(repeated, flat);
}

std::int64_t heads_of(const Tensor& x) { return x.rank() >= 3 ? x.size(-3) : 1; }

void check_groups(const char* name, std::int64_t queries, std::int64_t heads) {
  HEED_CHECK(heads > 0 && queries % heads == 0,
             "[attention] {} heads of queries and {} of {}: with enable_gqa the former must be a "
             "multiple of the latter",
             queries, heads, name);
}

}  // namespace

Arranged arrange(const Tensor& q, const Tensor& k, const Tensor& v, Heads heads) {
  const struct {
    const char* name;
    const Tensor& x;
  } operands[] = {{"q", q}, {"k", k}, {"v", v}};
  int rank = 0;
  for (const auto& [name, x] : operands) {
    HEED_CHECK(x.rank() >= 2,
               "[attention] {} is {}: it needs at least two axes, positions and "
               "features",
               name, to_string(x.shape()));
    rank = std::max(rank, x.rank());
  }
  const int axes = std::max(rank, kRank) - 2;
  const Shape q_lead = lead_of(q, axes), k_lead = lead_of(k, axes), v_lead = lead_of(v, axes);
  const Shape batch =
      broadcast_shapes("attention", batch_of(q_lead),
                       broadcast_shapes("attention", batch_of(k_lead), batch_of(v_lead)));

  std::int64_t H = heads_of(q);
  Tensor keys = k, values = v;
  if (heads == Heads::grouped) {
    check_groups("keys", H, heads_of(k));
    check_groups("values", H, heads_of(v));
    if (heads_of(k) != heads_of(v)) {
      keys = repeat_heads(k, H / heads_of(k));
      values = repeat_heads(v, H / heads_of(v));
    }
  } else {
    for (const auto& [name, x] : operands) {
      if (heads_of(x) != 1) H = heads_of(x);
    }
    for (const auto& [name, x] : operands) {
      HEED_CHECK(heads_of(x) == 1 || heads_of(x) == H,
                 "[attention] q has {} heads, k {} and v {}: they must be as many, or 1, or with "
                 "enable_gqa=True those of q a multiple of the others",
                 heads_of(q), heads_of(k), heads_of(v));
    }
  }
  // Equal numbers of heads are kept; a single head of one of them is expanded.
  const std::int64_t G = heads_of(keys) == heads_of(values) ? heads_of(keys) : H;
  Arranged arranged{
      with_lead(q, batch, H), with_lead(keys, batch, G), with_lead(values, batch, G), {}};
  Shape lead = batch;
  lead.push_back(H);
  // Axes that were not given are not returned.
  arranged.lead = Shape(lead.span().last(static_cast<std::size_t>(rank - 2)));
  return arranged;
}

Tensor arrange_pairs(const Tensor& x, const Shape& lead) {
  if (x.rank() < kRank || (x.rank() == kRank && lead.rank() <= 2)) return x;
  HEED_CHECK(x.rank() <= lead.rank() + 2,
             "[attention] a mask or bias of shape {}: it has more axes than the scores, {} + "
             "[queries, keys]",
             to_string(x.shape()), to_string(lead));
  const Shape batch = batch_of(lead);
  const std::int64_t heads = x.size(-3);
  Shape own = lead_of(x, lead.rank());
  // A batch of 1 stays 1.
  const Shape own_batch = batch_of(own);
  if (numel(own_batch) == 1) return reshape(x, {1, heads, x.size(-2), x.size(-1)});
  return with_lead(x, batch, heads);
}

Tensor restore(const Tensor& result, const Shape& lead) {
  if (lead.rank() == 2) return result;
  Shape shape = lead;
  for (int i = 2; i < result.rank(); ++i) shape.push_back(result.shape()[i]);
  return reshape(result, shape);
}

}  // namespace heed::python

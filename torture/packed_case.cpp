// Packed sequences of random lengths against one call for each sequence, in double.
#include <fmt/format.h>

#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "torture/cases.h"
#include "torture/compare.h"
#include "torture/drawn_mask.h"

namespace heed::torture {
namespace {

struct Packed {
  std::int64_t H = 1, G = 1, D = 1, Dv = 1;
  std::vector<std::int64_t> q_starts = {0}, k_starts = {0};
  Tensor q, k, v, d_output;  // [total, heads, features]
  DrawnMask mask;
  bool masked = false, capped = false, sloped = false;
  std::string text;

  AttentionSpec spec(DType dtype) const {
    AttentionSpec spec;
    if (sloped) spec.modifiers.push_back(alibi(alibi_slopes(H, dtype)));
    if (capped) spec.modifiers.push_back(soft_cap(3.0));
    if (masked) spec.mask = mask.mask;
    return spec;
  }
};

Packed draw_packed(Draws& draws) {
  Packed p;
  p.G = draws.between(1, 2);
  p.H = p.G * draws.between(1, 3);
  p.D = draws.length(70);
  p.Dv = draws.length(70);
  const std::int64_t sequences = draws.between(1, 6);
  test::CaseSizes s{.B = sequences, .H = p.H, .G = p.G, .Tq = 1, .Tk = 1, .D = p.D, .Dv = p.Dv};
  for (std::int64_t b = 0; b < sequences; ++b) {
    const std::int64_t queries = draws.chance(0.1) ? 0 : draws.length(90);
    const std::int64_t keys = draws.chance(0.1)   ? 0
                              : draws.chance(0.5) ? queries
                                                  : draws.length(90);
    p.q_starts.push_back(p.q_starts.back() + queries);
    p.k_starts.push_back(p.k_starts.back() + keys);
    s.Tq = std::max(s.Tq, queries);
    s.Tk = std::max(s.Tk, keys);
  }
  p.q = uniform({p.q_starts.back(), p.H, p.D}, -2, 2, draws.generator());
  p.k = uniform({p.k_starts.back(), p.G, p.D}, -2, 2, draws.generator());
  p.v = uniform({p.k_starts.back(), p.G, p.Dv}, -2, 2, draws.generator());
  p.d_output = normal({p.q_starts.back(), p.H, p.Dv}, 0, 1, draws.generator());
  p.masked = draws.chance(0.8);
  if (p.masked) p.mask = draw_mask(draws, s, true);
  p.capped = draws.chance(0.4);
  p.sloped = draws.chance(0.4);
  p.text = fmt::format("packed H{} G{} D{} Dv{}, queries {}, keys {}{}{}{}", p.H, p.G, p.D, p.Dv,
                       fmt::join(p.q_starts, " "), fmt::join(p.k_starts, " "),
                       p.masked ? ", mask " + p.mask.text : "", p.capped ? ", soft_cap" : "",
                       p.sloped ? ", alibi" : "");
  return p;
}

Outcome finish(const Tensor& y, const Packed& p, std::initializer_list<Tensor> leaves) {
  backward(y, cast_data(p.d_output, y.dtype()));
  Outcome outcome;
  outcome.add("the output", y.detach());
  constexpr const char* kNames[] = {"dq", "dk", "dv"};
  int i = 0;
  for (const Tensor& leaf : leaves) {
    outcome.add(kNames[i++],
                leaf.grad().defined() ? leaf.grad() : zeros(leaf.shape(), leaf.dtype()));
  }
  return outcome;
}

Outcome packed(const Packed& p) {
  Tensor q = clone_data(p.q).requires_grad(), k = clone_data(p.k).requires_grad();
  Tensor v = clone_data(p.v).requires_grad();
  const Tensor y = attention_packed(q, k, v, {p.q_starts, p.k_starts}, p.spec(DType::f32));
  return finish(y, p, {q, k, v});
}

// Sequence b as a call of its own: the mask is a predicate of its own sizes.
Tensor alone(const Packed& p, std::size_t b, const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto part = [](const Tensor& x, std::int64_t begin, std::int64_t end) {
    return transpose(unsqueeze(slice(x, 0, begin, end), 0), 1, 2);  // [1, heads, T, features]
  };
  const std::int64_t queries = p.q_starts[b + 1] - p.q_starts[b];
  const std::int64_t keys = p.k_starts[b + 1] - p.k_starts[b];
  AttentionSpec spec = p.spec(DType::f64);
  if (p.masked) {
    Tensor visible = empty({1, p.H, queries, keys}, DType::boolean);
    for (std::int64_t n = 0; n < visible.numel(); ++n) {
      visible.mutable_data<bool>()[n] =
          p.mask.sees({static_cast<std::int64_t>(b), n / (queries * keys), n / keys % queries,
                       n % keys, queries, keys});
    }
    spec.mask = boolean_mask(visible);
  }
  const Tensor y = attention(part(q, p.q_starts[b], p.q_starts[b + 1]),
                             part(k, p.k_starts[b], p.k_starts[b + 1]),
                             part(v, p.k_starts[b], p.k_starts[b + 1]), spec);
  return squeeze(transpose(y, 1, 2), 0);  // [T, H, Dv]
}

Outcome one_by_one(const Packed& p) {
  Tensor q = clone_data(cast_data(p.q, DType::f64)).requires_grad();
  Tensor k = clone_data(cast_data(p.k, DType::f64)).requires_grad();
  Tensor v = clone_data(cast_data(p.v, DType::f64)).requires_grad();
  std::vector<Tensor> parts;
  for (std::size_t b = 0; b + 1 < p.q_starts.size(); ++b) parts.push_back(alone(p, b, q, k, v));
  return finish(concat(parts, 0), p, {q, k, v});
}

}  // namespace

std::string packed_case(Draws& draws) {
  const Packed p = draw_packed(draws);
  const Outcome twin = one_by_one(p);
  with_isas([&](Isa isa) {
    require_close(packed(p), twin, {}, fmt::format("{}, {}", p.text, name_of(isa)));
  });
  return p.text;
}

}  // namespace heed::torture

#include "tests/attention/plain_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/stages/score_mod.h"
#include "heed/kernels/attention/stages/dropout.h"
#include "heed/kernels/attention/stages/gumbel.h"
#include "heed/kernels/attention/stages/query_random.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed::test {
namespace {

// Rows of a table for each pair, by an index f(i, j): [..., Tq, Tk, features] from [..., n,
// features], or without features from [..., n].
Tensor rows_by_pairs(const CaseSizes& s, const Tensor& table, int axis,
                     const std::function<std::int64_t(std::int64_t, std::int64_t)>& f) {
  Tensor ids = empty({s.Tq * s.Tk}, DType::i64);
  for (std::int64_t n = 0; n < ids.numel(); ++n) {
    ids.mutable_data<std::int64_t>()[n] = f(n / s.Tk, n % s.Tk);
  }
  const Tensor rows = index_select(table, axis, ids);
  Shape shape = rows.shape();
  shape[axis] = s.Tq;
  shape.insert(axis + 1, s.Tk);
  return reshape(rows, shape);
}

StageCase bias_case(const CaseSizes& s, const Shape& shape) {
  static_cast<void>(s);
  return {"dense_bias " + to_string(shape),
          {shape},
          [](AttentionSpec& spec, Tensors p) { spec.modifiers.push_back(dense_bias(p[0])); },
          {.scores = [](const Tensor& x, const Tensor&, Tensors p) { return x + p[0]; }}};
}

StageCase temperature_case(const Shape& shape) {
  return {"temperature " + to_string(shape),
          {shape},
          [](AttentionSpec& spec, Tensors p) {
            spec.modifiers.push_back(temperature(exp(p[0] * 0.3)));
          },
          {.scores = [](const Tensor& x, const Tensor&, Tensors p) {
            return x / reshape(exp(p[0] * 0.3), {p[0].numel(), 1, 1});
          }}};
}

std::vector<StageCase> distance_cases(const CaseSizes& s) {
  const std::int64_t zero = s.Tk + 2;
  return {
      {"alibi",
       {{s.H}},
       [](AttentionSpec& spec, Tensors p) { spec.modifiers.push_back(alibi(p[0] * 0.1)); },
       {.scores =
            [s](const Tensor& x, const Tensor&, Tensors p) {
              const Tensor far = by_pairs(s, x.dtype(), [](auto i, auto j) {
                return std::abs(static_cast<double>(i - j));
              });
              return x - reshape(p[0] * 0.1, {s.H, 1, 1}) * far;
            }}},
      {"t5_bias",
       {{8, s.H}},
       [](AttentionSpec& spec, Tensors p) {
         spec.modifiers.push_back(
             t5_bias(p[0], {.max_distance = 6, .corner = Corner::bottom_right}));
       },
       {.scores =
            [s](const Tensor& x, const Tensor&, Tensors p) {
              const T5Options options{.max_distance = 6};
              return x + rows_by_pairs(s, transpose(p[0]), 1, [&](auto i, auto j) {
                       return t5_bucket(j - (i + s.Tk - s.Tq), 8, options);
                     });
            }}},
      {"distance_bias",
       {{s.H, s.Tq + s.Tk + 4}},
       [zero](AttentionSpec& spec, Tensors p) {
         spec.modifiers.push_back(distance_bias(p[0], zero, Corner::offset(-1)));
       },
       {.scores =
            [s, zero](const Tensor& x, const Tensor&, Tensors p) {
              return x +
                     rows_by_pairs(s, p[0], 1, [&](auto i, auto j) { return i - 1 - j + zero; });
            }}},
      {"distance_bias shared",
       {{s.Tq + s.Tk}},
       [s](AttentionSpec& spec, Tensors p) { spec.modifiers.push_back(distance_bias(p[0], s.Tk)); },
       {.scores =
            [s](const Tensor& x, const Tensor&, Tensors p) {
              return x + rows_by_pairs(s, p[0], 0, [&](auto i, auto j) { return i - j + s.Tk; });
            }}},
  };
}

std::int64_t shaw_row(std::int64_t distance, std::int64_t clip) {
  return std::clamp(distance, -clip, clip) + clip;
}

std::vector<StageCase> shaw_cases(const CaseSizes& s) {
  const auto dot_rows = [s](const Tensor& q, const Tensor& rows) {
    return sum(unsqueeze(q, 3) * rows, {-1});  // q [B, H, Tq, 1, D], rows [.., Tq, Tk, D]
  };
  const auto read_rows = [s](const Tensor& weights, const Tensor& rows) {
    return sum(unsqueeze(weights, 4) * rows, {3});
  };
  return {
      {"shaw_keys",
       {{s.H, 5, s.D}},
       [](AttentionSpec& spec, Tensors p) { spec.modifiers.push_back(shaw_keys(p[0])); },
       {.scores =
            [=](const Tensor& x, const Tensor& q, Tensors p) {
              return x + dot_rows(q, rows_by_pairs(s, p[0], 1, [](auto i, auto j) {
                                    return shaw_row(j - i, 2);
                                  }));
            }}},
      {"shaw_keys shared",
       {{3, s.D}},
       [](AttentionSpec& spec, Tensors p) {
         spec.modifiers.push_back(shaw_keys(p[0], Corner::bottom_right));
       },
       {.scores =
            [=](const Tensor& x, const Tensor& q, Tensors p) {
              return x + dot_rows(q, rows_by_pairs(s, p[0], 0, [&](auto i, auto j) {
                                    return shaw_row(j - (i + s.Tk - s.Tq), 1);
                                  }));
            }}},
      {"shaw_values",
       {{s.H, 7, s.Dv}},
       [](AttentionSpec& spec, Tensors p) { spec.reweights.push_back(shaw_values(p[0])); },
       {.output =
            [=](const Tensor& weights, Tensors p) {
              return read_rows(weights, rows_by_pairs(s, p[0], 1, [](auto i, auto j) {
                                 return shaw_row(j - i, 3);
                               }));
            }}},
      {"shaw_values shared",
       {{5, s.Dv}},
       [](AttentionSpec& spec, Tensors p) {
         spec.reweights.push_back(shaw_values(p[0], Corner::offset(1)));
       },
       {.output =
            [=](const Tensor& weights, Tensors p) {
              return read_rows(weights, rows_by_pairs(s, p[0], 0, [](auto i, auto j) {
                                 return shaw_row(j - i - 1, 2);
                               }));
            }}},
      {"circular_keys",
       {{3, s.D}},
       [](AttentionSpec& spec, Tensors p) {
         spec.modifiers.push_back(circular_keys(p[0], Corner::bottom_right));
       },
       {.scores =
            [=](const Tensor& x, const Tensor& q, Tensors p) {
              return x + dot_rows(q, rows_by_pairs(s, p[0], 0, [&](auto i, auto j) {
                                    return (j - (i + s.Tk - s.Tq) + 3000) % 3;
                                  }));
            }}},
      {"circular_values",
       {{s.H, 4, s.Dv}},
       [](AttentionSpec& spec, Tensors p) { spec.reweights.push_back(circular_values(p[0])); },
       {.output =
            [=](const Tensor& weights, Tensors p) {
              return read_rows(weights, rows_by_pairs(s, p[0], 1, [](auto i, auto j) {
                                 return (j - i + 4000) % 4;
                               }));
            }}},
  };
}

StageCase dropout_case(const CaseSizes& s) {
  const RandomStream random{17, 4};
  return {
      "weight_dropout",
      {},
      [=](AttentionSpec& spec, Tensors) { spec.reweights.push_back(weight_dropout(0.3, random)); },
      {.weights = [=](const Tensor& weights, Tensors) {
        const kernels::WeightMask mask(random, 0.3);
        Tensor factors = empty(weights.shape(), DType::f64);
        for (std::int64_t n = 0; n < factors.numel(); ++n) {
          const std::int64_t j = n % s.Tk, i = n / s.Tk % s.Tq, head = n / (s.Tk * s.Tq);
          const RandomStream of_head = mask.of_head(head / s.H, head % s.H);
          factors.mutable_data<double>()[n] =
              weight_dropout_keeps(mask, of_head, i, j) ? mask.scale : 0.0;
        }
        return weights * cast_data(factors, weights.dtype());
      }}};
}

StageCase gaussian_case(const CaseSizes& s, const Shape& shape) {
  return {"gaussian " + to_string(shape),
          {shape},
          [](AttentionSpec& spec, Tensors p) {
            spec.reweights.push_back(gaussian(p[0] * 2.0 + 2.0, 1.5));
          },
          {.weights = [s](const Tensor& weights, Tensors p) {
            const Tensor keys =
                by_pairs(s, weights.dtype(), [](auto, auto j) { return static_cast<double>(j); });
            const Tensor distance = keys - unsqueeze(p[0] * 2.0 + 2.0, 3);
            return weights * exp(square(distance) * (-0.5 / (1.5 * 1.5)));
          }}};
}

StageCase gumbel_noise_case(const CaseSizes& s) {
  const RandomStream random{19, 3};
  return {"gumbel_noise",
          {},
          [=](AttentionSpec& spec, Tensors) { spec.modifiers.push_back(gumbel_noise(random)); },
          {.scores = [=](const Tensor& x, const Tensor&, Tensors) {
            Tensor noise = empty(x.shape(), DType::f64);
            for (std::int64_t n = 0; n < noise.numel(); ++n) {
              const std::int64_t j = n % s.Tk, i = n / s.Tk % s.Tq, head = n / (s.Tk * s.Tq);
              const RandomStream of_head = kernels::random_of_head(random, head / s.H, head % s.H);
              noise.mutable_data<double>()[n] = kernels::gumbel_noise(of_head, i, j);
            }
            return x + cast_data(noise, x.dtype());
          }}};
}

std::vector<StageCase> function_cases(const CaseSizes& s) {
  const auto plain = [s](const Tensor& x, const Tensor&, Tensors) {
    const Tensor far = by_pairs(
        s, x.dtype(), [](auto i, auto j) { return 0.25 * static_cast<double>(i - 2 * j); });
    return tanh(x * 0.5) + far;
  };
  const auto f = [](auto score, int, int, int i, int j) {
    using std::tanh;
    return tanh(score * 0.5f) + 0.25f * static_cast<float>(i - 2 * j);
  };
  const auto slope = [](auto score, int, int, int, int) {
    const auto y = std::tanh(score * decltype(score){0.5});
    return (1 - y * y) * decltype(score){0.5};
  };
  return {
      {"score_mod",
       {},
       [f](AttentionSpec& spec, Tensors) { spec.modifiers.push_back(score_mod(f)); },
       {.scores = plain}},
      {"score_mod with its derivative",
       {},
       [f, slope](AttentionSpec& spec, Tensors) { spec.modifiers.push_back(score_mod(f, slope)); },
       {.scores = plain}}};
}

StageCase additive_case(const CaseSizes& s) {
  return {"additive_score",
          {{s.H, s.D}},
          [](AttentionSpec& spec, Tensors p) { spec.score = additive_score(p[0]); },
          {.score = [s](const Tensor& q, const Tensor& k, Tensors p) {
            const Tensor w = reshape(p[0], {s.H, 1, 1, s.D});
            return sum(tanh(unsqueeze(q, 3) + unsqueeze(k, 2)) * w, {-1});
          }}};
}

// True for the n largest of each row.
Tensor among_best(const Tensor& scores, std::int64_t n) {
  const std::vector<double> x = cast_data(scores.detach(), DType::f64).to_vector<double>();
  const auto keys = static_cast<std::size_t>(scores.size(-1));
  Tensor best = empty(scores.shape(), DType::boolean);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto row = x.begin() + static_cast<std::ptrdiff_t>(i / keys * keys);
    const auto better = std::count_if(row, row + static_cast<std::ptrdiff_t>(keys),
                                      [&](double other) { return other > x[i]; });
    best.mutable_data<bool>()[i] = better < n;
  }
  return best;
}

StageCase top_k_case() {
  return {"top_k_weights",
          {},
          [](AttentionSpec& spec, Tensors) { spec.normaliser = top_k_weights(3); },
          {.seen = [](const Tensor& scores) { return among_best(scores, 3); }}};
}

StageCase observers_case() {
  struct Outputs {
    Tensor scores, modified, weights, read, log_sum_exp;
    TopWeights top;
  };
  const auto out = std::make_shared<Outputs>();
  return {"observers",
          {},
          [out](AttentionSpec& spec, Tensors) {
            spec.observers = {observe_scores(out->scores, {}, 0),
                              observe_scores(out->modified, {.rows = {2, 0}}),
                              observe_weights(out->weights, {.heads = {1}}),
                              observe_weights(out->read, {}, WeightsAt::read),
                              observe_top_weights(out->top, 2),
                              observe_log_sum_exp(out->log_sum_exp)};
          },
          {}};
}

}  // namespace

std::vector<StageCase> stage_cases(const CaseSizes& s) {
  std::vector<StageCase> cases = distance_cases(s);
  const auto append = [&](std::vector<StageCase> more) {
    cases.insert(cases.end(), more.begin(), more.end());
  };
  append({bias_case(s, {s.B, s.H, s.Tq, s.Tk}),
          bias_case(s, {s.H, 1, s.Tk}),
          bias_case(s, {s.B, 1, s.Tq, s.Tk}),
          bias_case(s, {s.Tq, 1}),
          {"soft_cap",
           {},
           [](AttentionSpec& spec, Tensors) { spec.modifiers.push_back(soft_cap(1.5)); },
           {.scores = [](const Tensor& x, const Tensor&, Tensors) { return tanh(x / 1.5) * 1.5; }}},
          {"temperature",
           {},
           [](AttentionSpec& spec, Tensors) { spec.modifiers.push_back(temperature(0.7)); },
           {.scores = [](const Tensor& x, const Tensor&, Tensors) { return x / 0.7; }}},
          temperature_case({1}),
          temperature_case({s.H})});
  append(shaw_cases(s));
  append({dropout_case(s), gaussian_case(s, {s.B, s.H, s.Tq}), gaussian_case(s, {1, 1, s.Tq}),
          gumbel_noise_case(s), additive_case(s), top_k_case(), observers_case()});
  append(function_cases(s));
  return cases;
}

Tensor by_pairs(const CaseSizes& s, DType dtype,
                const std::function<double(std::int64_t, std::int64_t)>& f) {
  Tensor x = empty({s.Tq, s.Tk}, DType::f64);
  for (std::int64_t n = 0; n < x.numel(); ++n) {
    x.mutable_data<double>()[n] = f(n / s.Tk, n % s.Tk);
  }
  return cast_data(x, dtype);
}

Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v, const PlainCall& call) {
  const std::int64_t H = q.size(1), G = k.size(1);
  Tensor heads = empty({H}, DType::i64);
  for (std::int64_t h = 0; h < H; ++h) heads.mutable_data<std::int64_t>()[h] = h / (H / G);
  const Tensor keys = index_select(k, 1, heads);    // [B, H, Tk, D]
  Tensor scaled = q * call.scale;                   // [B, H, Tq, D]
  Tensor scores = matmul(scaled, transpose(keys));  // [B, H, Tq, Tk]
  for (const auto& [plain, parameters] : call.stages) {
    if (!plain.score) continue;
    scaled = q;
    scores = plain.score(q, keys, parameters);
  }
  for (const auto& [plain, parameters] : call.stages) {
    if (plain.scores) scores = plain.scores(scores, scaled, parameters);
  }
  if (call.seen.defined()) {
    scores = where(call.seen, scores, -std::numeric_limits<double>::infinity());
  }
  for (const auto& [plain, parameters] : call.stages) {
    if (!plain.seen) continue;
    scores = where(plain.seen(scores), scores, -std::numeric_limits<double>::infinity());
  }
  Tensor weights = call.normalise ? call.normalise(scores) : softmax(scores), extra;
  for (const auto& [plain, parameters] : call.stages) {
    if (plain.weights) weights = plain.weights(weights, parameters);
    if (!plain.output) continue;
    const Tensor more = plain.output(weights, parameters);
    extra = extra.defined() ? extra + more : more;
  }
  const Tensor output = matmul(weights, index_select(v, 1, heads));  // [B, H, Tq, Dv]
  return extra.defined() ? output + extra : output;
}

}  // namespace heed::test

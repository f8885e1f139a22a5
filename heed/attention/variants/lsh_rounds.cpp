#include "heed/attention/variants/lsh_rounds.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/attention/call.h"
#include "heed/attention/masks.h"
#include "heed/attention/operands.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/variants/lsh_scores.h"
#include "heed/autograd/tape.h"
#include "heed/kernels/sorted_rows.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

/// What a group of heads keeps for the backward pass, by place: [B, rounds heads, T].
struct GroupResult {
  AttentionCall::Result of_rounds;  // without outputs
  Tensor shares;
};

// One group of heads in all rounds.
class Group {
 public:
  Group(const LshRounds& by, std::int64_t index, const Tensor& x)
      : shape_{.B = x.size(0),
               .T = x.size(1),
               .H = x.size(2),
               .D = x.size(3),
               .rounds = by.order.order.size(1),
               .head = index * by.group(),
               .heads = std::min(by.group(), by.heads() - index * by.group())},
        order_{heads_of_group(by.order.order), heads_of_group(by.order.place),
               heads_of_group(by.order.first), heads_of_group(by.order.last)},
        lengths_(by.lengths) {
    leave_selves_out(by.causal);
    spec_.mask = row_intervals(view::reshape(order_.first, by_place()),
                               view::reshape(order_.last, by_place()));
    if (!by.causal || (by.unique && shape_.rounds > 1)) {
      spec_.modifiers.push_back(lsh_scores(order_, {.unique = by.unique, .selves = !by.causal}));
    }
    if (!by.reweights.empty()) {
      spec_.reweights.push_back(by.reweights[static_cast<std::size_t>(index)]);
    }
  }

  const kernels::SortedShape& shape() const { return shape_; }
  Shape by_place() const { return {shape_.B, shape_.rounds * shape_.heads, shape_.T}; }
  const AttentionSpec& spec() const { return spec_; }
  const std::int64_t* place() const { return order_.place.data<std::int64_t>(); }
  const std::int64_t* order() const { return order_.order.data<std::int64_t>(); }
  const std::int64_t* lengths() const {
    return lengths_.defined() ? lengths_.data<std::int64_t>() : nullptr;
  }

  // Rows [B, T, H, D] by place, [B, rounds heads, T, D], multiplied by factors if there are any.
  Tensor sorted(const Tensor& x, const Tensor& factors = {}) const {
    Tensor y = empty({shape_.B, shape_.rounds * shape_.heads, shape_.T, shape_.D}, x.dtype());
    visit_float("lsh", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::take_sorted(shape_, x.data<T>(), order_.order.data<std::int64_t>(),
                           factors.defined() ? factors.data<T>() : nullptr, y.mutable_data<T>());
    });
    return y;
  }

 private:
  Tensor heads_of_group(const Tensor& x) const {  // [B, rounds, H, T]
    return contiguous_copy(view::slice(x, 2, shape_.head, shape_.head + shape_.heads));
  }

  // A position that attends to others gives itself no weight, and what it gets if there are none is
  // known. So no interval needs to contain the position itself if it is at the end of it.
  void leave_selves_out(bool causal) {
    Tensor last = empty(order_.last.shape(), DType::i64);
    for (std::int64_t n = 0; n < last.numel(); ++n) {
      const std::int64_t end = order_.last.data<std::int64_t>()[n];
      const bool alone = end - order_.first.data<std::int64_t>()[n] == 1;
      last.mutable_data<std::int64_t>()[n] = end - (end > 0 && (causal || alone) ? 1 : 0);
    }
    order_.last = last;
  }

  kernels::SortedShape shape_;
  LshOrder order_;
  Tensor lengths_;
  AttentionSpec spec_;
};

struct Rows {
  Tensor q, k, v;  // [B, T, H, D]
};

// The call of attention on sorted rows [B, rounds heads, T, D].
std::shared_ptr<const AttentionCall> call_of(const Group& group, const Rows& x,
                                             const AttentionSpec& spec) {
  const Tensor rows[] = {group.sorted(x.q), group.sorted(x.k), group.sorted(x.v)};
  return AttentionCall::make(rows[0], rows[1], rows[2], check_operands(rows[0], rows[1], rows[2]),
                             spec);
}

// Adds the weights of the group's rounds [B, rounds heads, T, T], by place, to `to` [B, H, T, T].
void add_weights(const Group& group, const Tensor& by_place, const Tensor& shares, Tensor& to) {
  const kernels::SortedShape& s = group.shape();
  visit_float("lsh", to.dtype(), [&](auto zero) {
    using Number = decltype(zero);
    for (std::int64_t n = 0; n < s.lines() * s.T; ++n) {
      const std::int64_t line = n / s.T, b = line / (s.rounds * s.heads);
      const std::int64_t h = s.head + line % s.heads, i = group.order()[n];
      Number* const row = to.mutable_data<Number>() + ((b * s.H + h) * s.T + i) * s.T;
      const Number share = shares.data<Number>()[n];
      for (std::int64_t c = 0; c < s.T; ++c) {
        const Number weight = by_place.data<Number>()[n * s.T + c];
        if (weight != Number{0}) row[group.order()[line * s.T + c]] += share * weight;
      }
    }
    // A position without other keys attends to itself. All of its shares are 0.
    for (std::int64_t n = 0; n < s.B * s.heads * s.T; ++n) {
      const std::int64_t b = n / (s.heads * s.T), h = n / s.T % s.heads, t = n % s.T;
      if (group.lengths() != nullptr && t >= group.lengths()[b]) continue;
      Number sum{0};
      for (std::int64_t r = 0; r < s.rounds; ++r) {
        const std::int64_t line = s.line(b, r, h) * s.T;
        sum += shares.data<Number>()[line + group.place()[line + t]];
      }
      Number* const row = to.mutable_data<Number>() + ((b * s.H + s.head + h) * s.T + t) * s.T;
      if (sum == Number{0}) row[t] = Number{1};
    }
  });
}

template <typename T>
kernels::SortedRounds<T> rounds_of(const Group& group, const Tensor& v, Tensor& shares) {
  return {.place = group.place(),
          .alone = v.data<T>(),
          .lengths = group.lengths(),
          .shares = shares.mutable_data<T>()};
}

// Writes the rows of the group's heads into y [B, T, H, D].
GroupResult go_forward(const Group& group, const Rows& x, Tensor& y, Tensor* weights) {
  AttentionSpec spec = group.spec();
  Tensor by_place;  // [B, rounds heads, T, T]
  if (weights != nullptr) spec.observers.push_back(observe_weights(by_place));
  const auto call = call_of(group, x, spec);
  GroupResult result{call->forward({.log_sum_exp = true, .scales = true}),
                     empty(group.by_place(), y.dtype())};
  visit_float("lsh", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto rounds = rounds_of<T>(group, x.v, result.shares);
    rounds.x = result.of_rounds.output.data<T>();
    rounds.log_sums = result.of_rounds.log_sum_exp.data<T>();
    kernels::join_sorted(group.shape(), rounds, y.mutable_data<T>());
  });
  if (weights != nullptr) add_weights(group, by_place, result.shares, *weights);
  result.of_rounds.output = Tensor();
  return result;
}

// Writes the rows of the group's heads into the gradients `to`.
void go_back(const Group& group, const Rows& x, GroupResult& result, const Tensor& y,
             const Tensor& dy, Rows& to) {
  const auto call = call_of(group, x, group.spec());
  AttentionCall::Gradients gradients;
  gradients.d_output = group.sorted(dy, result.shares);  // [B, rounds heads, T, D]
  gradients.d_log_sum_exp = empty(group.by_place(), y.dtype());
  visit_float("lsh", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto rounds = rounds_of<T>(group, x.v, result.shares);
    kernels::spread_deltas(group.shape(), rounds, y.data<T>(), dy.data<T>(),
                           gradients.d_log_sum_exp.mutable_data<T>());
    call->set_gradients(result.of_rounds, gradients);
    const auto add = [&](const Tensor& from, Tensor& into) {
      kernels::add_sorted(group.shape(), from.data<T>(), group.place(), into.mutable_data<T>());
    };
    add(gradients.dq, to.q);
    add(gradients.dk, to.k);
    add(gradients.dv, to.v);
    kernels::add_alone(group.shape(), rounds, dy.data<T>(), to.v.mutable_data<T>());
  });
}

}  // namespace

Tensor attend_in_rounds(const Tensor& q, const Tensor& k, const Tensor& v, const LshRounds& by) {
  const Rows x{contiguous_copy(q.detach()), contiguous_copy(k.detach()),
               contiguous_copy(v.detach())};
  const bool learns = detail::wants_tape(std::initializer_list<Tensor>{q, k, v});
  Tensor y = empty(q.shape(), q.dtype());
  if (by.weights != nullptr) {
    *by.weights = zeros({q.size(0), q.size(2), q.size(1), q.size(1)}, q.dtype());
  }
  ArenaVector<GroupResult> results;
  for (std::int64_t g = 0; g < by.groups(); ++g) {
    GroupResult made = go_forward(Group(by, g, x.q), x, y, by.weights);
    if (learns) results.push_back(std::move(made));
  }
  return record("lsh_rounds", {q, k, v}, y,
                [by, x, y = y.detach(), results = std::move(results)](Backward& b) mutable {
                  const Tensor dy = contiguous_copy(b.dy());
                  Rows gradients{empty(y.shape(), y.dtype()), empty(y.shape(), y.dtype()),
                                 empty(y.shape(), y.dtype())};
                  for (std::size_t g = 0; g < results.size(); ++g) {
                    go_back(Group(by, static_cast<std::int64_t>(g), x.q), x, results[g], y, dy,
                            gradients);
                    results[g] = {};
                  }
                  b.add(0, std::move(gradients.q));
                  b.add(1, std::move(gradients.k));
                  b.add(2, std::move(gradients.v));
                });
}

}  // namespace heed

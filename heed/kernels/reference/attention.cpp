#include "heed/kernels/reference/attention.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/reference/attention_head.h"

namespace heed::kernels::reference {
namespace {

// The forward results of one head.
struct HeadResult {
  Cuts cuts;
  RowSums sums;
  Numbers weights;
  Numbers output;  // [Dv][Tq]
};

HeadResult run_forward(const AttentionProgram<double>& program, Head& head) {
  const StageList<double> modify_list(program.modifiers, head.Tq(), false);
  const StageList<double> reweight_list(program.reweights, head.Tq(), false);
  Stages modify(modify_list, 0, {}), reweight(reweight_list, 0, {});
  HeadResult result;
  result.output = zeros(program.shape.Dv * head.Tq());
  RowBlock<double> block = head.block();
  block.output = result.output.data();
  modify->begin(block);
  reweight->begin(block);
  result.weights = head.scores(modify);
  if (program.top_k > 0) {
    result.cuts = head.find_cuts(result.weights);
    head.cut(result.weights, result.cuts.data());
  }
  if (program.normaliser == Normalise::softmax) result.sums = head.sum_rows(result.weights);
  head.normalise(result.weights, result.sums);
  reweight->forward(head.tile(result.weights), 0);
  head.for_each_visible([&](std::int64_t j, std::int64_t i) {
    for (std::int64_t d = 0; d < program.shape.Dv; ++d) {
      result.output[head.at(d, i)] += result.weights[head.at(j, i)] * head.v(j)[d];
    }
  });
  const Numbers ones(static_cast<std::size_t>(head.Tq()), 1.0);
  block.row_factors = ones.data();
  modify->end(block);
  reweight->end(block);
  return result;
}

// The backward pass of one head.
class HeadBackward {
 public:
  HeadBackward(const AttentionProgram<double>& program, const AttentionBackward<double>& call,
               Head& head, std::int64_t batch, std::int64_t h)
      : program_(program), call_(call), head_(head), b_(batch), h_(h) {}

  void run(Stages& modify, Stages& reweight) {
    d_queries_ = zeros(program_.shape.D * head_.Tq());
    Numbers d_output = transposed_d_output();
    RowBlock<double> block = head_.block();
    block.d_output = d_output.data();
    block.d_scaled_queries = d_queries_.data();
    modify->begin(block);
    reweight->begin(block);
    weights_ = head_.scores(modify);
    if (program_.top_k > 0) head_.cut(weights_, call_.cuts.at(b_, h_));
    if (program_.normaliser == Normalise::softmax) sums_ = head_.sum_rows(weights_);
    read_rows();
    head_.normalise(weights_, sums_);
    read_ = weights_;
    reweight->forward(head_.tile(read_), 0);
    gradient_of_weights();
    reweight->backward(head_.tile(gradient_), 0);
    gradient_of_scores();
    modify->backward(head_.tile(gradient_), 0);
    modify->end(block);
    reweight->end(block);
    add_results();
  }

 private:
  const double* d_output(std::int64_t i) const { return call_.d_output.at(b_, h_, i); }

  Numbers transposed_d_output() const {
    Numbers result = zeros(program_.shape.Dv * head_.Tq());
    for (std::int64_t d = 0; d < program_.shape.Dv; ++d) {
      for (std::int64_t i = 0; i < head_.Tq(); ++i) result[head_.at(d, i)] = d_output(i)[d];
    }
    return result;
  }

  // delta = sum(dO * O) - d log-sum-exp, which is subtracted in the gradient of softmax; and the
  // gradient of the sink, which is -weight * delta.
  void read_rows() {
    delta_ = zeros(head_.Tq());
    if (program_.normaliser != Normalise::softmax) return;
    for (std::int64_t i = 0; i < head_.Tq(); ++i) {
      double& delta = delta_[head_.at(0, i)];
      for (std::int64_t d = 0; d < program_.shape.Dv && call_.output.data != nullptr; ++d) {
        delta += d_output(i)[d] * call_.output.at(b_, h_, i)[d];
      }
      if (call_.d_log_sum_exp.data != nullptr) delta -= call_.d_log_sum_exp.at(b_, h_)[i];
      if (call_.d_sinks == nullptr) continue;
      const double weight = sums_[head_.at(0, i)].weight(head_.sink());
      if (weight != 0.0) call_.d_sinks[h_] -= weight * delta;
    }
  }

  void gradient_of_weights() {
    gradient_ = zeros(head_.Tk() * head_.Tq());
    head_.for_each_visible([&](std::int64_t j, std::int64_t i) {
      for (std::int64_t d = 0; d < program_.shape.Dv; ++d) {
        gradient_[head_.at(j, i)] += head_.v(j)[d] * d_output(i)[d];
      }
    });
  }

  // slope * (dP - delta), where delta is the mean of dP weighted by the slopes.
  void gradient_through_entmax() {
    for (std::int64_t i = 0; i < head_.Tq(); ++i) {
      double slopes = 0.0, products = 0.0;
      for (std::int64_t j = 0; j < head_.Tk(); ++j) {
        const double slope = head_.entmax_slope(weights_[head_.at(j, i)]);
        slopes += slope;
        if (slope > 0.0) products += slope * gradient_[head_.at(j, i)];
      }
      for (std::int64_t j = 0; j < head_.Tk(); ++j) {
        const double slope = head_.entmax_slope(weights_[head_.at(j, i)]);
        double& x = gradient_[head_.at(j, i)];
        x = slope > 0.0 ? slope * (x - products / slopes) : 0.0;
      }
    }
  }

  void gradient_of_scores() {
    if (program_.normaliser == Normalise::entmax) return gradient_through_entmax();
    for (std::int64_t j = 0; j < head_.Tk(); ++j) {
      for (std::int64_t i = 0; i < head_.Tq(); ++i) {
        const double weight = weights_[head_.at(j, i)];
        double& x = gradient_[head_.at(j, i)];
        if (program_.normaliser == Normalise::softmax) {
          x = weight == 0.0 ? 0.0 : weight * (x - delta_[head_.at(0, i)]);
        } else if (program_.normaliser == Normalise::sigmoid) {
          x *= weight * (1.0 - weight);
        }
      }
    }
    head_.hide(gradient_, 0.0);
  }

  // Adds to dq, dk, dv and the gradient of the additive score's weights.
  void add_results() const {
    const std::int64_t kv_head = h_ / program_.shape.group();
    head_.for_each_visible([&](std::int64_t j, std::int64_t i) {
      const double weight = read_[head_.at(j, i)];
      double* const dq = call_.dq.at(b_, h_, i);
      double* const dk = call_.dk.at(b_, kv_head, j);
      double* const dv = call_.dv.at(b_, kv_head, j);
      program_.additive == nullptr ? add_product(j, i, dq, dk) : add_additive(j, i, dq, dk);
      for (std::int64_t d = 0; d < program_.shape.Dv; ++d) dv[d] += weight * d_output(i)[d];
    });
    for (std::int64_t i = 0; i < head_.Tq(); ++i) {
      double* const dq = call_.dq.at(b_, h_, i);
      for (std::int64_t d = 0; d < program_.shape.D; ++d) {
        dq[d] += program_.scale * d_queries_[head_.at(d, i)];
      }
    }
  }

  void add_product(std::int64_t j, std::int64_t i, double* dq, double* dk) const {
    const double ds = gradient_[head_.at(j, i)];
    for (std::int64_t d = 0; d < program_.shape.D; ++d) {
      dq[d] += program_.scale * ds * head_.k(j)[d];
      dk[d] += ds * head_.scaled_q(d, i);
    }
  }

  void add_additive(std::int64_t j, std::int64_t i, double* dq, double* dk) const {
    const double ds = gradient_[head_.at(j, i)];
    for (std::int64_t d = 0; d < program_.shape.D; ++d) {
      const double t = std::tanh(head_.scaled_q(d, i) + head_.k(j)[d]);
      const double dx = ds * head_.additive()[d] * (1.0 - t * t);
      dq[d] += program_.scale * dx;
      dk[d] += dx;
      if (call_.d_additive != nullptr) {
        call_.d_additive[h_ * program_.additive_head + d] += ds * t;
      }
    }
  }

  const AttentionProgram<double>& program_;
  const AttentionBackward<double>& call_;
  Head& head_;
  std::int64_t b_, h_;
  Numbers d_queries_, delta_;
  RowSums sums_;
  Numbers weights_, read_, gradient_;  // normalised weights, final weights, current gradient
};

template <typename F>
void for_each_head(const AttentionShape& shape, const F& f) {
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) f(b, h);
  }
}

void clear(const Heads<double>& x, std::int64_t b, std::int64_t h, std::int64_t rows,
           std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r) std::fill_n(x.at(b, h, r), width, 0.0);
}

void finish(const StageList<double>& list, const double* sums, const AttentionShape& shape) {
  for (std::size_t i = 0; i < list.stages.size(); ++i) {
    const std::int64_t size = list.needs[i].sums;
    list.stages[i]->finish({sums, size, shape.B, shape.H, 1});
    sums += size * shape.B * shape.H;
  }
}

}  // namespace

void attention_forward(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call) {
  for_each_head(program.shape, [&](std::int64_t b, std::int64_t h) {
    Head head(program, {call.q, call.k, call.v}, b, h);
    if (head.Tq() == 0) return;
    const HeadResult result = run_forward(program, head);
    for (std::int64_t i = 0; i < head.Tq(); ++i) {
      for (std::int64_t d = 0; d < program.shape.Dv; ++d) {
        call.output.at(b, h, i)[d] = result.output[head.at(d, i)];
      }
    }
    if (call.cuts.data != nullptr) {
      std::copy(result.cuts.begin(), result.cuts.end(), call.cuts.at(b, h));
    }
    if (call.log_sum_exp.data == nullptr || program.normaliser != Normalise::softmax) return;
    std::transform(result.sums.begin(), result.sums.end(), call.log_sum_exp.at(b, h),
                   [](const RowSum& row) { return row.log(); });
  });
}

void attention_backward(const AttentionProgram<double>& program,
                        const AttentionBackward<double>& call, AddGradients add) {
  const AttentionShape& shape = program.shape;
  for_each_head(shape, [&](std::int64_t b, std::int64_t h) {
    clear(call.dq, b, h, shape.queries(b), shape.D);
    if (h % shape.group() != 0) return;
    if (!add.dk) clear(call.dk, b, h / shape.group(), shape.keys(b), shape.D);
    if (!add.dv) clear(call.dv, b, h / shape.group(), shape.keys(b), shape.Dv);
  });
  const std::int64_t cells = shape.B * shape.H;
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < shape.B; ++b) longest = std::max(longest, shape.queries(b));
  const StageList<double> modify_list(program.modifiers, longest, true);
  const StageList<double> reweight_list(program.reweights, longest, true);
  Numbers modify_sums = zeros(modify_list.sums() * cells);
  Numbers reweight_sums = zeros(reweight_list.sums() * cells);
  for_each_head(shape, [&](std::int64_t b, std::int64_t h) {
    Head head(program, {call.q, call.k, call.v}, b, h);
    if (head.Tq() == 0) return;
    const std::int64_t tile = head.Tq() * head.Tk(), cell = b * shape.H + h;
    Stages modify(modify_list, tile, {modify_sums.data(), cells, cell});
    Stages reweight(reweight_list, tile, {reweight_sums.data(), cells, cell});
    HeadBackward(program, call, head, b, h).run(modify, reweight);
  });
  finish(modify_list, modify_sums.data(), shape);
  finish(reweight_list, reweight_sums.data(), shape);
}

void attention_weights(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call, std::int64_t batch, std::int64_t head,
                       double* weights) {
  Head one(program, {call.q, call.k, call.v}, batch, head);
  if (one.Tq() == 0) return;
  const HeadResult result = run_forward(program, one);
  std::copy(result.weights.begin(), result.weights.end(), weights);
}

thread_local int PlainAttention::count_ = 0;

}  // namespace heed::kernels::reference

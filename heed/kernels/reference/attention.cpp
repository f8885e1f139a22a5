#include "heed/kernels/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/kernels/attention/stages.h"

namespace heed::kernels {
namespace {

using Numbers = std::vector<double>;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

Numbers zeros(std::int64_t n) { return Numbers(static_cast<std::size_t>(n)); }

// The stages of one head.
class Stages {
 public:
  Stages(const StageList<double>& list, std::int64_t tile, SumsAt<double> sums)
      : memory_(zeros(list.space(tile))), run_(list, tile, memory_.data(), sums) {}
  StageRun<double>* operator->() { return &run_; }

 private:
  Numbers memory_;
  StageRun<double> run_;
};

struct HeadInputs {
  Heads<const double> q, k, v;
};

// One query head of one sequence: matrices are [key][query] or [feature][query].
class Head {
 public:
  Head(const AttentionProgram<double>& program, const HeadInputs& in, std::int64_t batch,
       std::int64_t head)
      : program_(program),
        in_(in),
        b_(batch),
        h_(head),
        Tq_(program.shape.queries(batch)),
        Tk_(program.shape.keys(batch)),
        D_(program.shape.D),
        Dv_(program.shape.Dv),
        queries_(zeros(D_ * Tq_)),
        seen_(static_cast<std::size_t>(Tk_ * Tq_), 1) {
    for (std::int64_t i = 0; i < Tq_; ++i) {
      for (std::int64_t d = 0; d < D_; ++d) queries_[at(d, i)] = program.scale * q(i)[d];
    }
    if (program.see != nullptr && Tq_ * Tk_ > 0) {
      program.see->fill({b_, h_, 0, Tq_, 0, Tk_}, seen_.data(), Tq_);
    }
  }

  std::int64_t Tq() const { return Tq_; }
  std::int64_t Tk() const { return Tk_; }
  const double* q(std::int64_t i) const { return in_.q.at(b_, h_, i); }
  const double* k(std::int64_t j) const { return in_.k.at(b_, h_ / program_.shape.group(), j); }
  const double* v(std::int64_t j) const { return in_.v.at(b_, h_ / program_.shape.group(), j); }
  double scaled_q(std::int64_t d, std::int64_t i) const { return queries_[at(d, i)]; }
  bool seen(std::int64_t j, std::int64_t i) const { return seen_[at(j, i)] != 0; }
  std::size_t at(std::int64_t outer, std::int64_t query) const {
    return static_cast<std::size_t>(outer * Tq_ + query);
  }

  RowBlock<double> block() const {
    RowBlock<double> block;
    block.batch = b_;
    block.head = h_;
    block.rows = block.stride = Tq_;
    block.features = D_;
    block.value_features = Dv_;
    block.queries = queries_.data();
    return block;
  }
  Tile<double> tile(Numbers& data) const {
    Tile<double> tile;
    tile.data = data.data();
    tile.stride = tile.rows = Tq_;
    tile.batch = b_;
    tile.head = h_;
    tile.cols = Tk_;
    return tile;
  }

  // Calls f(j, i) for every key j that query i may see.
  template <typename F>
  void for_each_seen(const F& f) const {
    for (std::int64_t j = 0; j < Tk_; ++j) {
      for (std::int64_t i = 0; i < Tq_; ++i) {
        if (seen(j, i)) f(j, i);
      }
    }
  }
  void hide(Numbers& x, double hidden) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (seen_[i] == 0) x[i] = hidden;
    }
  }

  // After all modifiers; -inf where hidden.
  Numbers scores(Stages& modify) const {
    Numbers s = zeros(Tk_ * Tq_);
    for_each_seen([&](std::int64_t j, std::int64_t i) {
      for (std::int64_t d = 0; d < D_; ++d) s[at(j, i)] += scaled_q(d, i) * k(j)[d];
    });
    modify->forward(tile(s), 0);
    hide(s, kHidden);
    return s;
  }

  // The logarithm of each row's sum of e^score, the sink's included.
  Numbers log_sum_exp(const Numbers& scores) const {
    Numbers result = zeros(Tq_);
    const double sink = program_.sinks == nullptr ? kHidden : program_.sinks[h_];
    for (std::int64_t i = 0; i < Tq_; ++i) {
      double top = sink;
      for (std::int64_t j = 0; j < Tk_; ++j) top = std::max(top, scores[at(j, i)]);
      const double shift = top == kHidden ? 0.0 : top;
      double sum = std::exp(sink - shift);
      for (std::int64_t j = 0; j < Tk_; ++j) sum += std::exp(scores[at(j, i)] - shift);
      result[at(0, i)] = shift + std::log(sum);
    }
    return result;
  }

  // Weights from scores; `log_sums` is for softmax.
  void normalise(Numbers& x, const Numbers& log_sums) const {
    for (std::size_t n = 0; n < x.size(); ++n) {
      switch (program_.normalise) {
        case Normalise::softmax: {
          const double log_sum = log_sums[n % static_cast<std::size_t>(Tq_)];
          x[n] = log_sum == kHidden ? 0.0 : std::exp(x[n] - log_sum);
          break;
        }
        case Normalise::sigmoid:
          x[n] = 1.0 / (1.0 + std::exp(-x[n]));
          break;
        case Normalise::none:
          if (x[n] == kHidden) x[n] = 0.0;
          break;
      }
    }
    hide(x, 0.0);
  }

 private:
  const AttentionProgram<double>& program_;
  HeadInputs in_;
  std::int64_t b_, h_, Tq_, Tk_, D_, Dv_;
  Numbers queries_;
  std::vector<std::uint8_t> seen_;
};

// What forward makes of one head.
struct HeadResult {
  Numbers log_sums, weights;
  Numbers output;  // [Dv][Tq]
};

HeadResult run_forward(const AttentionProgram<double>& program, const Head& head) {
  const StageList<double> modify_list(program.modify, head.Tq(), false);
  const StageList<double> reweight_list(program.reweight, head.Tq(), false);
  Stages modify(modify_list, 0, {}), reweight(reweight_list, 0, {});
  HeadResult result;
  result.output = zeros(program.shape.Dv * head.Tq());
  RowBlock<double> block = head.block();
  block.output = result.output.data();
  modify->begin(block);
  reweight->begin(block);
  result.weights = head.scores(modify);
  if (program.normalise == Normalise::softmax) result.log_sums = head.log_sum_exp(result.weights);
  head.normalise(result.weights, result.log_sums);
  reweight->forward(head.tile(result.weights), 0);
  head.for_each_seen([&](std::int64_t j, std::int64_t i) {
    for (std::int64_t d = 0; d < program.shape.Dv; ++d) {
      result.output[head.at(d, i)] += result.weights[head.at(j, i)] * head.v(j)[d];
    }
  });
  modify->end(block);
  reweight->end(block);
  return result;
}

// The backward pass of one head.
class HeadBackward {
 public:
  HeadBackward(const AttentionProgram<double>& program, const AttentionBackward<double>& call,
               const Head& head, std::int64_t batch, std::int64_t h)
      : program_(program), call_(call), head_(head), b_(batch), h_(h) {}

  void run(Stages& modify, Stages& reweight) {
    d_queries_ = zeros(program_.shape.D * head_.Tq());
    Numbers d_output = transposed_d_output();
    RowBlock<double> block = head_.block();
    block.d_output = d_output.data();
    block.d_scaled_queries = d_queries_.data();
    modify->begin(block);
    reweight->begin(block);
    read_rows();
    weights_ = head_.scores(modify);
    head_.normalise(weights_, log_sums_);
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

  // delta = sum(dO * O) - d log-sum-exp, by which softmax's gradient is lowered; and the sink's
  // gradient, which is -weight * delta.
  void read_rows() {
    delta_ = zeros(head_.Tq());
    if (program_.normalise != Normalise::softmax) return;
    log_sums_ = zeros(head_.Tq());
    for (std::int64_t i = 0; i < head_.Tq(); ++i) {
      double& delta = delta_[head_.at(0, i)];
      for (std::int64_t d = 0; d < program_.shape.Dv; ++d) {
        delta += d_output(i)[d] * call_.output.at(b_, h_, i)[d];
      }
      if (call_.d_log_sum_exp.data != nullptr) delta -= call_.d_log_sum_exp.at(b_, h_)[i];
      const double log_sum = log_sums_[head_.at(0, i)] = call_.log_sum_exp.at(b_, h_)[i];
      if (call_.d_sinks == nullptr || log_sum == kHidden) continue;
      call_.d_sinks[h_] -= std::exp(program_.sinks[h_] - log_sum) * delta;
    }
  }

  void gradient_of_weights() {
    gradient_ = zeros(head_.Tk() * head_.Tq());
    head_.for_each_seen([&](std::int64_t j, std::int64_t i) {
      for (std::int64_t d = 0; d < program_.shape.Dv; ++d) {
        gradient_[head_.at(j, i)] += head_.v(j)[d] * d_output(i)[d];
      }
    });
  }

  // A weight of 0 stays 0 whatever its score does.
  void gradient_of_scores() {
    for (std::int64_t j = 0; j < head_.Tk(); ++j) {
      for (std::int64_t i = 0; i < head_.Tq(); ++i) {
        const double weight = weights_[head_.at(j, i)];
        double& x = gradient_[head_.at(j, i)];
        if (weight == 0.0) {
          x = 0.0;
        } else if (program_.normalise == Normalise::softmax) {
          x = weight * (x - delta_[head_.at(0, i)]);
        } else if (program_.normalise == Normalise::sigmoid) {
          x *= weight * (1.0 - weight);
        }
      }
    }
    head_.hide(gradient_, 0.0);
  }

  void add_results() const {
    const std::int64_t kv_head = h_ / program_.shape.group();
    head_.for_each_seen([&](std::int64_t j, std::int64_t i) {
      const double ds = gradient_[head_.at(j, i)], weight = read_[head_.at(j, i)];
      for (std::int64_t d = 0; d < program_.shape.D; ++d) {
        call_.dq.at(b_, h_, i)[d] += program_.scale * ds * head_.k(j)[d];
        call_.dk.at(b_, kv_head, j)[d] += ds * head_.scaled_q(d, i);
      }
      for (std::int64_t d = 0; d < program_.shape.Dv; ++d) {
        call_.dv.at(b_, kv_head, j)[d] += weight * d_output(i)[d];
      }
    });
    for (std::int64_t i = 0; i < head_.Tq(); ++i) {
      for (std::int64_t d = 0; d < program_.shape.D; ++d) {
        call_.dq.at(b_, h_, i)[d] += program_.scale * d_queries_[head_.at(d, i)];
      }
    }
  }

  const AttentionProgram<double>& program_;
  const AttentionBackward<double>& call_;
  const Head& head_;
  std::int64_t b_, h_;
  Numbers d_queries_, log_sums_, delta_;
  Numbers weights_, read_, gradient_;  // weights as normalised, as read; the gradient on its way
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
    const Head head(program, {call.q, call.k, call.v}, b, h);
    if (head.Tq() == 0) return;
    const HeadResult result = run_forward(program, head);
    for (std::int64_t i = 0; i < head.Tq(); ++i) {
      for (std::int64_t d = 0; d < program.shape.Dv; ++d) {
        call.output.at(b, h, i)[d] = result.output[head.at(d, i)];
      }
    }
    if (call.log_sum_exp.data == nullptr || program.normalise != Normalise::softmax) return;
    std::copy(result.log_sums.begin(), result.log_sums.end(), call.log_sum_exp.at(b, h));
  });
}

void attention_backward(const AttentionProgram<double>& program,
                        const AttentionBackward<double>& call) {
  const AttentionShape& shape = program.shape;
  for_each_head(shape, [&](std::int64_t b, std::int64_t h) {
    clear(call.dq, b, h, shape.queries(b), shape.D);
    if (h % shape.group() != 0) return;
    clear(call.dk, b, h / shape.group(), shape.keys(b), shape.D);
    clear(call.dv, b, h / shape.group(), shape.keys(b), shape.Dv);
  });
  const std::int64_t cells = shape.B * shape.H;
  const StageList<double> modify_list(program.modify, shape.Tq, true);
  const StageList<double> reweight_list(program.reweight, shape.Tq, true);
  Numbers modify_sums = zeros(modify_list.sums() * cells);
  Numbers reweight_sums = zeros(reweight_list.sums() * cells);
  for_each_head(shape, [&](std::int64_t b, std::int64_t h) {
    const Head head(program, {call.q, call.k, call.v}, b, h);
    if (head.Tq() == 0) return;
    const std::int64_t tile = head.Tq() * head.Tk(), cell = b * shape.H + h;
    Stages modify(modify_list, tile, {modify_sums.data(), cells, cell});
    Stages reweight(reweight_list, tile, {reweight_sums.data(), cells, cell});
    HeadBackward(program, call, head, b, h).run(modify, reweight);
  });
  finish(modify_list, modify_sums.data(), shape);
  finish(reweight_list, reweight_sums.data(), shape);
}

namespace reference {

void attention_weights(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call, std::int64_t batch, std::int64_t head,
                       double* weights) {
  const Head one(program, {call.q, call.k, call.v}, batch, head);
  if (one.Tq() == 0) return;
  const HeadResult result = run_forward(program, one);
  std::copy(result.weights.begin(), result.weights.end(), weights);
}

}  // namespace reference
}  // namespace heed::kernels

#include "heed/ops/linear_cross_entropy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/kernels/cross_entropy.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/classes.h"
#include "heed/ops/copy_cross_entropy.h"
#include "heed/ops/index.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// Rows per block: up to 128 MB of scores. Every block packs W again for its products, so small
// blocks cost time (2048 x 512 x 32000 on two cores of Zen 4: 131 rows 1664 ms, 256 rows 1500, 1024
// rows 1450, all at once 1425; HEED_BENCH_ALL=1 ./run bench core loss), and more than a thousand
// rows gain little.
std::int64_t default_rows(std::int64_t classes) {
  constexpr std::int64_t kScores = std::int64_t{1} << 25;
  return std::clamp<std::int64_t>(kScores / std::max<std::int64_t>(1, classes), 256, 1024);
}

struct Sizes {
  std::int64_t rows, features, classes;
  std::int64_t at_once;  // rows of a block
};

// The second distribution of a mixture, of each row; null in calls without one.
template <typename T>
struct Mixed {
  const T* gate = nullptr;                // z
  const T* copied = nullptr;              // q
  const std::uint8_t* foreign = nullptr;  // whether the target is not among the classes
  T* dgate = nullptr;
  T* dcopied = nullptr;
};

// log P = log(g p + (1 - g) q) from log p, with the share w = g p / P of the first part, by which
// all gradients are expressed: d log P = w d log p + (w - g) dz + (1 - w) / q dq.
struct MixedRow {
  double log_probability, share, dgate, dcopied;
};

double log_sigmoid(double z) { return std::min(z, 0.0) - std::log1p(std::exp(-std::abs(z))); }

MixedRow mix_row(double z, double q, double log_p) {
  const double generated = log_sigmoid(z) + log_p;
  const double copied = log_sigmoid(-z) + std::log(q);
  const double greater = std::max(generated, copied);
  if (!(greater > -std::numeric_limits<double>::infinity())) {
    return {.log_probability = greater, .share = 0.0, .dgate = 0.0, .dcopied = 0.0};
  }
  const double log_sum = greater + std::log1p(std::exp(-std::abs(generated - copied)));
  const double share = std::exp(generated - log_sum);
  return {.log_probability = log_sum,
          .share = share,
          .dgate = share - std::exp(log_sigmoid(z)),
          .dcopied = q > 0.0 ? (1.0 - share) / q : 0.0};
}

// Inputs and outputs of one call; gradients that are not needed are null.
template <typename T>
struct Work {
  Sizes sizes;
  double smoothing;
  double share;  // weight of a row in the loss
  const T* x;
  const T* weight;
  const T* bias;  // or null
  const std::int64_t* targets;
  T* likelihoods;
  T* dx = nullptr;
  T* dweight = nullptr;
  Tensor dbias = {};
  Mixed<T> mixed = {};
};

struct Sums {
  double loss = 0.0, likelihood = 0.0;
};

// Blocks run one after another, so all sums over them (the gradient of W too) have a fixed order.
template <typename T>
class Blocks {
 public:
  explicit Blocks(const Work<T>& work)
      : w_(work),
        step_(std::min(work.sizes.rows, work.sizes.at_once)),
        scores_(empty({step_, work.sizes.classes}, dtype_of<T>)),
        losses_(empty({step_}, dtype_of<T>)),
        log_sum_exp_(empty({step_}, dtype_of<T>)),
        shares_(full({step_}, work.share, dtype_of<T>)),
        smoothings_(work.mixed.gate != nullptr ? empty({step_}, dtype_of<T>) : Tensor()) {}

  Sums run() {
    Sums sums;
    for (std::int64_t first = 0; first < w_.sizes.rows; first += step_) {
      const std::int64_t rows = std::min(step_, w_.sizes.rows - first);
      forward(first, rows, sums);
      if (w_.dx != nullptr || w_.dweight != nullptr || w_.dbias.defined()) backward(first, rows);
    }
    return sums;
  }

 private:
  kernels::Rows shape(std::int64_t rows) const { return {rows, w_.sizes.classes}; }

  void forward(std::int64_t first, std::int64_t rows, Sums& sums) {
    const std::int64_t E = w_.sizes.features, V = w_.sizes.classes;
    T* const scores = scores_.template mutable_data<T>();
    kernels::gemm(kernels::GemmCall<T>{.shape = {rows, V, E},
                                       .a = {w_.x + first * E, E, 1},
                                       .b = {w_.weight, 1, E},
                                       .c = scores,
                                       .ldc = V,
                                       .epilogue = {.bias = w_.bias}});
    T* const losses = losses_.template mutable_data<T>();
    T* const log_sum_exp = log_sum_exp_.template mutable_data<T>();
    kernels::cross_entropy(kernels::CrossEntropyForward<T>{.rows = shape(rows),
                                                           .smoothing = w_.smoothing,
                                                           .logits = scores,
                                                           .targets = w_.targets + first,
                                                           .loss = losses,
                                                           .log_sum_exp = log_sum_exp});
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t target = w_.targets[first + row];
      w_.likelihoods[first + row] = T{0};
      if (target == kernels::kIgnoredTarget) continue;
      T surprise = log_sum_exp[row] - scores[row * V + target];
      if (w_.mixed.gate != nullptr) surprise = mix(first, row, surprise);
      w_.likelihoods[first + row] = -surprise;
      sums.loss += static_cast<double>(losses[row]);
      sums.likelihood += static_cast<double>(surprise);
    }
  }

  // Replaces the loss of a row by that of the mixture, and writes its gradients. The gradient of
  // the scores is that of a row with another weight and another smoothing: with smoothing s,
  //   (1 - s) w (p - onehot) + s (p - 1 / V),   which is   a (p - (1 - s / a) onehot - s / (a V))
  // for a = (1 - s) w + s.
  T mix(std::int64_t first, std::int64_t row, T surprise) {
    const Mixed<T>& mixed = w_.mixed;
    const std::int64_t at = first + row;
    const double rest = 1.0 - w_.smoothing;
    const double log_p = mixed.foreign[at] != 0 ? -std::numeric_limits<double>::infinity()
                                                : -static_cast<double>(surprise);
    MixedRow mixture =
        mix_row(static_cast<double>(mixed.gate[at]), static_cast<double>(mixed.copied[at]), log_p);
    if (mixture.log_probability == -std::numeric_limits<double>::infinity()) {
      mixture.log_probability = std::log(static_cast<double>(std::numeric_limits<T>::min()));
    }
    T& loss = losses_.template mutable_data<T>()[row];
    loss = static_cast<T>(static_cast<double>(loss) -
                          rest * (static_cast<double>(surprise) + mixture.log_probability));
    const double weight = rest * mixture.share + w_.smoothing;
    shares_.template mutable_data<T>()[row] = static_cast<T>(w_.share * weight);
    smoothings_.template mutable_data<T>()[row] =
        static_cast<T>(weight > 0.0 ? w_.smoothing / weight : 0.0);
    if (mixed.dgate != nullptr) {
      mixed.dgate[at] = static_cast<T>(-w_.share * rest * mixture.dgate);
    }
    if (mixed.dcopied != nullptr) {
      mixed.dcopied[at] = static_cast<T>(-w_.share * rest * mixture.dcopied);
    }
    return static_cast<T>(-mixture.log_probability);
  }

  // Overwrites the scores with their gradient.
  void backward(std::int64_t first, std::int64_t rows) {
    const std::int64_t E = w_.sizes.features, V = w_.sizes.classes;
    T* const scores = scores_.template mutable_data<T>();
    kernels::cross_entropy_backward(kernels::CrossEntropyBackward<T>{
        .rows = shape(rows),
        .smoothing = w_.smoothing,
        .logits = scores,
        .targets = w_.targets + first,
        .log_sum_exp = log_sum_exp_.template data<T>(),
        .dloss = shares_.template data<T>(),
        .dlogits = scores,
        .smoothings = smoothings_.defined() ? smoothings_.template data<T>() : nullptr});
    if (w_.dx != nullptr) {
      kernels::gemm(kernels::GemmCall<T>{.shape = {rows, E, V},
                                         .a = {scores, V, 1},
                                         .b = {w_.weight, E, 1},
                                         .c = w_.dx + first * E,
                                         .ldc = E});
    }
    if (w_.dweight != nullptr) {
      kernels::gemm(kernels::GemmCall<T>{.shape = {V, E, rows},
                                         .a = {scores, 1, V},
                                         .b = {w_.x + first * E, E, 1},
                                         .c = w_.dweight,
                                         .ldc = E,
                                         .beta = static_cast<T>(first == 0 ? 0 : 1)});
    }
    if (w_.dbias.defined()) add_into(w_.dbias, sum_to(view::slice(scores_, 0, 0, rows), {V}));
  }

  Work<T> w_;
  std::int64_t step_;
  Tensor scores_, losses_, log_sum_exp_, shares_, smoothings_;
};

void check_arguments(const Tensor& x, const Tensor& weight, const Tensor& targets,
                     const Tensor& bias, const CrossEntropyOptions& options) {
  HEED_CHECK(
      x.rank() >= 1 && weight.rank() == 2 && weight.size(0) >= 1 && x.size(-1) == weight.size(1),
      "[linear_cross_entropy] x {} and weight {}: weight must be [classes, features] with the "
      "features of x",
      to_string(x.shape()), to_string(weight.shape()));
  Shape rows = x.shape();
  rows.erase(rows.rank() - 1);
  HEED_CHECK(targets.shape() == rows,
             "[linear_cross_entropy] x {} and targets {}: the targets must be {}, one class a row",
             to_string(x.shape()), to_string(targets.shape()), to_string(rows));
  HEED_CHECK(x.dtype() == weight.dtype(),
             "[linear_cross_entropy] x is {}, weight {}: they must agree; cast one of them",
             name_of(x.dtype()), name_of(weight.dtype()));
  HEED_CHECK(
      !bias.defined() || (bias.shape() == Shape{weight.size(0)} && bias.dtype() == x.dtype()),
      "[linear_cross_entropy] bias {} {}: it must be {} [{}], one for each class",
      name_of(bias.dtype()), to_string(bias.shape()), name_of(x.dtype()), weight.size(0));
  HEED_CHECK(
      options.reduction != Reduction::none,
      "[linear_cross_entropy] reduction none: use cross_entropy for the losses of single rows");
  HEED_CHECK(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0,
             "[linear_cross_entropy] label_smoothing {}: it must be from 0 to 1",
             options.label_smoothing);
}

double share_of(const CrossEntropyOptions& options, std::int64_t counted) {
  if (options.reduction != Reduction::mean) return 1.0;
  return 1.0 / static_cast<double>(std::max<std::int64_t>(1, counted));
}

// The rows that count, of a call in which enough others do not: padding would take its share of the
// three products. A row is copied twice, which is little beside V products of it.
class CountedRows {
 public:
  CountedRows(const Tensor& targets, const Classes& classes) : shape_(targets.shape()) {
    constexpr std::int64_t kWorthwhile = 32;  // one row in so many is left out
    const std::int64_t all = targets.numel();
    if (classes.counted == 0 || kWorthwhile * (all - classes.counted) < all) return;
    ids_ = empty({classes.counted}, DType::i64);
    std::int64_t* to = ids_.mutable_data<std::int64_t>();
    for (std::int64_t row = 0; row < all; ++row) {
      if (classes.targets.data<std::int64_t>()[row] != kernels::kIgnoredTarget) *to++ = row;
    }
  }

  bool worthwhile() const { return ids_.defined(); }
  /// The counted rows of x, in which targets have `shape`: […] -> [counted], […, E] -> [counted,
  /// E].
  Tensor of(const Tensor& x) const {
    Shape flat{numel(shape_)};
    if (x.rank() > shape_.rank()) flat.push_back(x.size(-1));
    return index_select(reshape(x, flat), 0, ids_);
  }
  /// The reverse, without gradient: [counted] -> […], 0 elsewhere.
  Tensor back(const Tensor& x) const {
    const NoGrad no_grad;
    const Tensor none = zeros({numel(shape_)}, x.dtype());
    return view::reshape(scatter_add(none, 0, ids_, x), shape_);
  }

 private:
  Shape shape_;
  Tensor ids_;
};

// The inputs of a call in one piece of memory each, with the gradients that are wanted.
struct Operands {
  Operands(const Tensor& of, const Tensor& by, const Tensor& plus, bool taped)
      : x(contiguous_copy(of)),
        weight(contiguous_copy(by)),
        bias(plus.defined() ? contiguous_copy(plus) : Tensor()) {
    if (taped && of.tracks_grad()) dx = empty(of.shape(), of.dtype());
    if (taped && by.tracks_grad()) dweight = zeros(by.shape(), of.dtype());
    if (taped && plus.tracks_grad()) dbias = zeros(plus.shape(), of.dtype());
  }

  template <typename T>
  Work<T> work(const Classes& classes, double smoothing, std::int64_t rows_at_once) {
    return {.sizes = {.rows = classes.targets.numel(),
                      .features = weight.size(1),
                      .classes = weight.size(0),
                      .at_once = rows_at_once > 0 ? rows_at_once : default_rows(weight.size(0))},
            .smoothing = smoothing,
            .share = 1.0,
            .x = x.data<T>(),
            .weight = weight.data<T>(),
            .bias = bias.defined() ? bias.data<T>() : nullptr,
            .targets = classes.targets.data<std::int64_t>(),
            .likelihoods = nullptr,
            .dx = dx.defined() ? dx.mutable_data<T>() : nullptr,
            .dweight = dweight.defined() ? dweight.mutable_data<T>() : nullptr,
            .dbias = dbias};
  }

  Tensor x, weight, bias, dx, dweight, dbias;
};

// Hands the gradients, which the forward pass has computed, to the inputs.
void add_gradients(Backward& back, std::span<Tensor> gradients) {
  const double scale = back.dy().item();
  for (int input = 0; Tensor & gradient : gradients) {
    if (back.needs(input)) {
      if (scale != 1.0) scale_in_place(gradient, scale);
      back.add(input, std::move(gradient));
    }
    ++input;
  }
}

// Targets from V on become class 0, which mix() does not use.
struct Foreign {
  Foreign(const Tensor& of, std::int64_t classes, std::int64_t ignored)
      : targets(empty(of.shape(), DType::i64)), is_foreign(static_cast<std::size_t>(of.numel())) {
    const std::vector<std::int64_t> all = of.to_vector<std::int64_t>();
    std::int64_t* const to = targets.mutable_data<std::int64_t>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      is_foreign[i] = all[i] >= classes && all[i] != ignored ? 1 : 0;
      to[i] = is_foreign[i] != 0 ? 0 : all[i];
    }
  }

  Tensor targets;
  std::vector<std::uint8_t> is_foreign;
};

}  // namespace

LinearCrossEntropy linear_cross_entropy(const Tensor& x, const Tensor& weight,
                                        const Tensor& targets, CrossEntropyOptions options,
                                        std::int64_t rows_at_once, const Tensor& bias) {
  check_arguments(x, weight, targets, bias, options);
  HEED_CHECK(
      rows_at_once >= 0,
      "[linear_cross_entropy] rows_at_once {}: it must be 1 or more, or 0 to choose automatically",
      rows_at_once);
  const Classes classes = classes_of(targets, weight.size(0), options.ignore_index);
  if (const CountedRows rows(targets, classes); rows.worthwhile()) {
    LinearCrossEntropy result =
        linear_cross_entropy(rows.of(x), weight, rows.of(targets), options, rows_at_once, bias);
    result.log_likelihoods = rows.back(result.log_likelihoods);
    return result;
  }
  Operands operands(x, weight, bias, detail::wants_tape(detail::TensorRefs{x, weight, bias}));
  const double share = share_of(options, classes.counted);
  LinearCrossEntropy result{{}, 0.0, classes.counted, empty(targets.shape(), x.dtype())};
  visit_float("linear_cross_entropy", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Work<T> work = operands.work<T>(classes, options.label_smoothing, rows_at_once);
    work.share = share;
    work.likelihoods = result.log_likelihoods.mutable_data<T>();
    const Sums sums = Blocks<T>(work).run();
    result.loss = full({}, sums.loss * share, x.dtype());
    result.negative_log_likelihood = sums.likelihood;
  });
  result.loss = record("linear_cross_entropy", {x, weight, bias}, result.loss,
                       [gradients = std::array{operands.dx, operands.dweight, operands.dbias}](
                           Backward& back) mutable { add_gradients(back, gradients); });
  return result;
}

LinearCrossEntropy copy_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                      const CopyMixture& mixture, CrossEntropyOptions options,
                                      const Tensor& bias) {
  check_arguments(x, weight, targets, bias, options);
  const auto& [gate, copied] = mixture;
  for (const Tensor* const row : {&gate, &copied}) {
    HEED_CHECK(row->shape() == targets.shape() && row->dtype() == x.dtype(),
               "[copy_cross_entropy] targets {}, gate and copied {} {}: there must be one {} "
               "number of each a row",
               to_string(targets.shape()), name_of(row->dtype()), to_string(row->shape()),
               name_of(x.dtype()));
  }
  const Foreign known(targets, weight.size(0), options.ignore_index);
  const Classes classes = classes_of(known.targets, weight.size(0), options.ignore_index);
  if (const CountedRows rows(targets, classes); rows.worthwhile()) {
    LinearCrossEntropy result = copy_cross_entropy(rows.of(x), weight, rows.of(targets),
                                                   {rows.of(gate), rows.of(copied)}, options, bias);
    result.log_likelihoods = rows.back(result.log_likelihoods);
    return result;
  }
  const bool taped = detail::wants_tape(detail::TensorRefs{x, weight, bias, gate, copied});
  Operands operands(x, weight, bias, taped);
  const Tensor z = contiguous_copy(gate), q = contiguous_copy(copied);
  Tensor dgate = taped ? zeros(gate.shape(), x.dtype()) : Tensor();
  Tensor dcopied = taped ? zeros(gate.shape(), x.dtype()) : Tensor();
  const double share = share_of(options, classes.counted);
  LinearCrossEntropy result{{}, 0.0, classes.counted, empty(targets.shape(), x.dtype())};
  visit_float("copy_cross_entropy", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Work<T> work = operands.work<T>(classes, options.label_smoothing, 0);
    work.share = share;
    work.likelihoods = result.log_likelihoods.mutable_data<T>();
    work.mixed = {.gate = z.data<T>(),
                  .copied = q.data<T>(),
                  .foreign = known.is_foreign.data(),
                  .dgate = taped ? dgate.mutable_data<T>() : nullptr,
                  .dcopied = taped ? dcopied.mutable_data<T>() : nullptr};
    const Sums sums = Blocks<T>(work).run();
    result.loss = full({}, sums.loss * share, x.dtype());
    result.negative_log_likelihood = sums.likelihood;
  });
  result.loss = record(
      "copy_cross_entropy", {x, weight, bias, gate, copied}, result.loss,
      [gradients = std::array{operands.dx, operands.dweight, operands.dbias, dgate, dcopied}](
          Backward& back) mutable { add_gradients(back, gradients); });
  return result;
}

}  // namespace heed

#include "heed/attention/stages/observers.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention/stages/observe.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

using kernels::AttentionShape;

// For each of `size` heads or rows, its index in the list, or -1.
struct Slots {
  ArenaVector<std::int32_t> of;
  std::int64_t count;

  Slots(const std::string& observer, const char* what, const std::vector<std::int64_t>& listed,
        std::int64_t size)
      : of(static_cast<std::size_t>(size), -1),
        count(listed.empty() ? size : static_cast<std::int64_t>(listed.size())) {
    if (listed.empty()) std::iota(of.begin(), of.end(), 0);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      HEED_CHECK(listed[i] >= 0 && listed[i] < size,
                 "[attention] {} of {} has {}: this call has {}, numbered from 0", what, observer,
                 listed[i], size);
      std::int32_t& slot = of[static_cast<std::size_t>(listed[i])];
      HEED_CHECK(slot < 0, "[attention] {} of {} has {} twice: list each once", what, observer,
                 listed[i]);
      slot = static_cast<std::int32_t>(i);
    }
  }
};

// Numbers for pairs of queries and keys, and the stage that fills them.
class PairObservation : public Observation {
 public:
  PairObservation(const std::string& name, const Observed& who, const ObservedCall& call,
                  double initial)
      : heads_(name, "heads", who.heads, call.shape.H),
        rows_(name, "rows", who.rows, call.shape.Tq),
        pairs_(
            full({call.shape.B, heads_.count, rows_.count, call.shape.Tk}, initial, call.dtype)) {}

 protected:
  template <typename T>
  kernels::ObserverTable<T> table() {
    kernels::ObserverTable<T> table;
    table.data = pairs_.mutable_data<T>();
    table.heads = heads_.count;
    table.rows = rows_.count;
    table.keys = pairs_.size(3);
    table.head_slots = heads_.of.data();
    table.row_slots = rows_.of.data();
    return table;
  }
  const Tensor& pairs() const { return pairs_; }

 private:
  Slots heads_, rows_;
  Tensor pairs_;  // [B, heads, rows, Tk]
};

class WeightObservation : public PairObservation {
 public:
  WeightObservation(const std::string& name, const Observed& who, const ObservedCall& call,
                    Tensor* out)
      : PairObservation(name, who, call, 0.0), out_(out) {}
  TileStagePtr<float> stage_f32() override {
    return std::make_unique<kernels::WeightObserver<float>>(table<float>());
  }
  TileStagePtr<double> stage_f64() override {
    return std::make_unique<kernels::WeightObserver<double>>(table<double>());
  }
  void finish(const Tensor&) override { *out_ = pairs(); }

 private:
  Tensor* out_;
};

class ScoreObservation : public PairObservation {
 public:
  ScoreObservation(const std::string& name, const Observed& who, const ObservedCall& call,
                   Tensor* out)
      : PairObservation(name, who, call, -std::numeric_limits<double>::infinity()),
        mask_(call.mask),
        out_(out) {}
  TileStagePtr<float> stage_f32() override {
    return std::make_unique<kernels::ScoreObserver<float>>(table<float>(), mask_);
  }
  TileStagePtr<double> stage_f64() override {
    return std::make_unique<kernels::ScoreObserver<double>>(table<double>(), mask_);
  }
  void finish(const Tensor&) override { *out_ = pairs(); }

 private:
  const kernels::Visibility* mask_;
  Tensor* out_;
};

// The k largest of each row of weights.
template <typename T>
void find_largest(const Tensor& weights, TopWeights& top) {
  const std::int64_t keys = weights.size(3), k = top.keys.size(3);
  const T* const from = weights.data<T>();
  T* const values = top.values.mutable_data<T>();
  std::int64_t* const found = top.keys.mutable_data<std::int64_t>();
  const std::int64_t rows = weights.size(0) * weights.size(1) * weights.size(2);
  parallel_for(rows, keys, [&](std::int64_t r) {
    const T* const row = from + r * keys;
    ArenaVector<std::int64_t> nonzero;
    for (std::int64_t j = 0; j < keys; ++j) {
      if (row[j] != T{0}) nonzero.push_back(j);
    }
    const std::int64_t n = std::min(k, static_cast<std::int64_t>(nonzero.size()));
    std::partial_sort(nonzero.begin(), nonzero.begin() + n, nonzero.end(),
                      [&](std::int64_t a, std::int64_t b) {
                        return row[a] > row[b] || (row[a] == row[b] && a < b);
                      });
    for (std::int64_t i = 0; i < n; ++i) {
      found[r * k + i] = nonzero[static_cast<std::size_t>(i)];
      values[r * k + i] = row[found[r * k + i]];
    }
  });
}

class TopObservation : public WeightObservation {
 public:
  TopObservation(const std::string& name, const Observed& who, const ObservedCall& call,
                 std::int64_t k, TopWeights* out)
      : WeightObservation(name, who, call, &weights_), k_(k), out_(out) {}
  void finish(const Tensor& log_sum_exp) override {
    WeightObservation::finish(log_sum_exp);
    Shape shape = weights_.shape();
    shape[3] = k_;
    out_->values = zeros(shape, weights_.dtype());
    out_->keys = full(shape, -1, DType::i64);
    visit_float("observe_top_weights", weights_.dtype(),
                [&](auto zero) { find_largest<decltype(zero)>(weights_, *out_); });
  }

 private:
  std::int64_t k_;
  TopWeights* out_;
  Tensor weights_;
};

ObservePoint point_at(WeightsAt at) {
  return at == WeightsAt::normalised ? ObservePoint::weights : ObservePoint::read_weights;
}

class ObserveWeights : public ObserverImpl {
 public:
  ObserveWeights(Tensor* out, Observed who, WeightsAt at)
      : out_(out), who_(std::move(who)), at_(at) {}
  std::string name() const override { return "observe_weights"; }
  ObservePoint point() const override { return point_at(at_); }
  std::unique_ptr<Observation> start(const ObservedCall& call) const override {
    return std::make_unique<WeightObservation>(name(), who_, call, out_);
  }

 private:
  Tensor* out_;
  Observed who_;
  WeightsAt at_;
};

class ObserveTopWeights : public ObserverImpl {
 public:
  ObserveTopWeights(TopWeights* out, std::int64_t k, Observed who, WeightsAt at)
      : out_(out), k_(k), who_(std::move(who)), at_(at) {}
  std::string name() const override { return "observe_top_weights"; }
  ObservePoint point() const override { return point_at(at_); }
  std::unique_ptr<Observation> start(const ObservedCall& call) const override {
    return std::make_unique<TopObservation>(name(), who_, call, k_, out_);
  }

 private:
  TopWeights* out_;
  std::int64_t k_;
  Observed who_;
  WeightsAt at_;
};

class ObserveScores : public ObserverImpl {
 public:
  ObserveScores(Tensor* out, Observed who, std::optional<std::size_t> after)
      : out_(out), who_(std::move(who)), after_(after) {}
  std::string name() const override { return "observe_scores"; }
  ObservePoint point() const override { return ObservePoint::scores; }
  std::optional<std::size_t> after() const override { return after_; }
  std::unique_ptr<Observation> start(const ObservedCall& call) const override {
    HEED_CHECK(after_.value_or(0) <= call.modifiers,
               "[attention] observe_scores after {} modifiers: this call has {}", *after_,
               call.modifiers);
    return std::make_unique<ScoreObservation>(name(), who_, call, out_);
  }

 private:
  Tensor* out_;
  Observed who_;
  std::optional<std::size_t> after_;
};

class RowObservation : public Observation {
 public:
  RowObservation(Tensor* out, bool packed) : out_(out), packed_(packed) {}
  void finish(const Tensor& log_sum_exp) override {
    const Tensor rows = packed_
                            ? view::transpose(view::squeeze(log_sum_exp, 0), 0, 1)  // [total, H]
                            : log_sum_exp;                                          // [B, H, Tq]
    *out_ = clone_data(rows);
  }

 private:
  Tensor* out_;
  bool packed_;
};

class ObserveLogSumExp : public ObserverImpl {
 public:
  explicit ObserveLogSumExp(Tensor* out) : out_(out) {}
  std::string name() const override { return "observe_log_sum_exp"; }
  ObservePoint point() const override { return ObservePoint::rows; }
  std::unique_ptr<Observation> start(const ObservedCall& call) const override {
    HEED_CHECK(call.has_log_sum_exp,
               "[attention] observe_log_sum_exp: this call's normaliser has none, only softmax "
               "does");
    return std::make_unique<RowObservation>(out_, call.shape.q_starts != nullptr);
  }

 private:
  Tensor* out_;
};

template <typename Impl, typename... Args>
Observer make_observer(Args&&... args) {
  return Observer(std::make_shared<const Impl>(std::forward<Args>(args)...));
}

}  // namespace

Observer observe_weights(Tensor& out, const Observed& who, WeightsAt at) {
  return make_observer<ObserveWeights>(&out, who, at);
}

Observer observe_top_weights(TopWeights& out, std::int64_t k, const Observed& who, WeightsAt at) {
  HEED_CHECK(k >= 1, "[observe_top_weights] k is {}: it must be 1 or more", k);
  return make_observer<ObserveTopWeights>(&out, k, who, at);
}

Observer observe_scores(Tensor& out, const Observed& who, std::optional<std::size_t> after) {
  return make_observer<ObserveScores>(&out, who, after);
}

Observer observe_log_sum_exp(Tensor& out) { return make_observer<ObserveLogSumExp>(&out); }

}  // namespace heed

// The scores: dot products of queries and keys, plain, scaled, through a matrix or normalised, and
// the additive score.
#include "heed/attention/stages.h"

#include <cmath>

#include "heed/attention/stage.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/norm.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

void check_sizes(const Tensor& q, const Tensor& k) {
  HEED_CHECK(q.size(3) == k.size(3),
             "[attention] q {} has D = {}, k {} has {}: they must agree, or use general_score",
             to_string(q.shape()), q.size(3), to_string(k.shape()), k.size(3));
}

class ScaledDot : public ScoreImpl {
 public:
  ScaledDot(const char* name, std::optional<double> scale) : name_(name), scale_(scale) {}
  std::string name() const override { return name_; }
  ScoreOperands prepare(const Tensor& q, const Tensor& k) const override {
    check_sizes(q, k);
    return {q, k, scale_.value_or(1.0 / std::sqrt(static_cast<double>(q.size(3))))};
  }

 private:
  const char* name_;
  std::optional<double> scale_;
};

class General : public ScoreImpl {
 public:
  explicit General(Tensor weight) : weight_(std::move(weight)) {}
  std::string name() const override { return "general_score"; }
  ScoreOperands prepare(const Tensor& q, const Tensor& k) const override {
    check_parameter(name(), "weight", weight_, q.dtype());
    const std::int64_t H = q.size(1), D = q.size(3), Dk = k.size(3);
    HEED_CHECK(weight_.shape() == Shape({D, Dk}) || weight_.shape() == Shape({H, D, Dk}),
               "[attention] weight of general_score {}: for q {} and k {} it must be {} or {}",
               to_string(weight_.shape()), to_string(q.shape()), to_string(k.shape()),
               to_string(Shape({D, Dk})), to_string(Shape({H, D, Dk})));
    return {matmul(q, weight_), k};  // [B, H, Tq, Dk]
  }

 private:
  Tensor weight_;
};

// x sqrt(D) / |x|, and 0 for 0.
Tensor direction(const Tensor& x) { return rms_norm(x, {.eps = 1e-24}); }

class Cosine : public ScoreImpl {
 public:
  Cosine(double scale, Tensor learned) : scale_(scale), learned_(std::move(learned)) {}
  std::string name() const override { return "cosine_score"; }
  ScoreOperands prepare(const Tensor& q, const Tensor& k) const override {
    check_sizes(q, k);
    Tensor directions = direction(q);  // [B, H, Tq, D]
    if (learned_.defined()) {
      check_parameter(name(), "scale", learned_, q.dtype());
      const std::int64_t n = learned_.numel(), H = q.size(1);
      HEED_CHECK(n == 1 || learned_.shape() == Shape({H}),
                 "[attention] scale of cosine_score {}: it must be one number or {}, one for each "
                 "head",
                 to_string(learned_.shape()), to_string(Shape({H})));
      directions = directions * reshape(learned_, {n, 1, 1});
    }
    return {directions, direction(k), scale_ / static_cast<double>(q.size(3))};
  }

 private:
  double scale_;
  Tensor learned_;  // or undefined
};

class Additive : public ScoreImpl {
 public:
  explicit Additive(Tensor weights) : weights_(std::move(weights)) {}
  std::string name() const override { return "additive_score"; }
  ScoreOperands prepare(const Tensor& q, const Tensor& k) const override {
    HEED_CHECK(q.size(3) == k.size(3),
               "[attention] q {} has D = {}, k {} has {}: additive_score needs both projected to "
               "one size",
               to_string(q.shape()), q.size(3), to_string(k.shape()), k.size(3));
    check_parameter(name(), "weights", weights_, q.dtype());
    const std::int64_t H = q.size(1), D = q.size(3);
    HEED_CHECK(weights_.shape() == Shape({D}) || weights_.shape() == Shape({H, D}),
               "[attention] weights of additive_score {}: for q {} they must be {} or {}",
               to_string(weights_.shape()), to_string(q.shape()), to_string(Shape({D})),
               to_string(Shape({H, D})));
    return {q, k, 1.0, contiguous(weights_)};
  }

 private:
  Tensor weights_;
};

template <typename Impl, typename... Args>
Score make_score(Args&&... args) {
  return Score(std::make_shared<const Impl>(std::forward<Args>(args)...));
}

}  // namespace

Score dot_score() { return make_score<ScaledDot>("dot_score", 1.0); }
Score scaled_dot_score(std::optional<double> scale) {
  return make_score<ScaledDot>("scaled_dot_score", scale);
}
Score general_score(const Tensor& weight) { return make_score<General>(weight); }
Score cosine_score(double scale) { return make_score<Cosine>(scale, Tensor()); }
Score cosine_score(const Tensor& scale) { return make_score<Cosine>(1.0, scale); }
Score additive_score(const Tensor& weights) { return make_score<Additive>(weights); }

}  // namespace heed

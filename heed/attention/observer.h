// Observers copy numbers out of a call of attention: stages/observers.h makes them, an
// AttentionSpec lists them. What they copied is in tensors of the user after the call, without
// gradients. The results of the call have the same bits with observers and without.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "heed/attention/stage.h"
#include "heed/base/arena_object.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The point of a call at which an observer works.
enum class ObservePoint : std::uint8_t {
  scores,        ///< Between modifiers.
  weights,       ///< Before reweights.
  read_weights,  ///< After reweights: the weights that values are multiplied with.
  rows,          ///< At the log-sum-exp of rows.
};

/// The properties of a call that observers use.
struct ObservedCall {
  const kernels::AttentionShape& shape;
  DType dtype;
  std::size_t modifiers;            ///< Number of modifiers.
  const kernels::Visibility* mask;  ///< Null if all keys are visible.
  bool has_log_sum_exp;
};

/// One observer during one call.
class Observation : public ArenaObject {
 public:
  virtual ~Observation() = default;
  /// The stage that observes, in the precision of the call; null if there is none.
  virtual TileStagePtr<float> stage_f32() { return nullptr; }
  virtual TileStagePtr<double> stage_f64() { return nullptr; }
  /// Hands over the copied numbers after the call. log_sum_exp is defined for ObservePoint::rows.
  virtual void finish(const Tensor& log_sum_exp) = 0;

  ObservePoint point = ObservePoint::weights;  ///< Set by the call.
  std::size_t after = 0;                       ///< For scores: the number of modifiers before it.
};

/// A kind of observer; immutable, since specs share it.
class ObserverImpl {
 public:
  virtual ~ObserverImpl() = default;
  /// The name of the function that makes it, for messages.
  virtual std::string name() const = 0;
  virtual ObservePoint point() const = 0;
  /// For ObservePoint::scores: the number of modifiers before it; none: all of them.
  virtual std::optional<std::size_t> after() const { return {}; }
  /// Throws heed::Error if it does not fit the call.
  virtual std::unique_ptr<Observation> start(const ObservedCall& call) const = 0;
};

class Observer {
 public:
  explicit Observer(std::shared_ptr<const ObserverImpl> impl) : impl_(std::move(impl)) {}
  std::string name() const { return impl_->name(); }
  const ObserverImpl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const ObserverImpl> impl_;
};

/// The observers of one call.
using Observations = ArenaVector<std::unique_ptr<Observation>>;

}  // namespace heed

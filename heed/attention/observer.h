// Who looks on while attention runs, as a value: stages/observers.h makes them, an AttentionSpec
// lists them. What they saw is in tensors of the user's once the call returns, off the tape; the
// call's results are the same bits with them and without.
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

/// Where an observer looks.
enum class Lookout : std::uint8_t {
  scores,        ///< Among the modifiers.
  weights,       ///< Before all that reweighs them.
  read_weights,  ///< After it, as values are read.
  rows,          ///< At log-sum-exp.
};

/// What an observer may know of a call.
struct ObservedCall {
  const kernels::AttentionShape& shape;
  DType dtype;
  std::size_t modifiers;            ///< How many there are.
  const kernels::Visibility* mask;  ///< Null if nothing is hidden.
  bool has_log_sum_exp;
};

/// One observer during one call.
class Observation : public ArenaObject {
 public:
  virtual ~Observation() = default;
  /// The stage that looks, of the call's precision; null if there is none.
  virtual TileStagePtr<float> stage_f32() { return nullptr; }
  virtual TileStagePtr<double> stage_f64() { return nullptr; }
  /// After the call: hands over what was seen. The rows' log-sum-exp is there if one looks at rows.
  virtual void finish(const Tensor& log_sum_exp) = 0;
};

/// A kind of observer; to be immutable, for specs share it.
class ObserverImpl {
 public:
  virtual ~ObserverImpl() = default;
  /// As in messages: the name of the function that makes it.
  virtual std::string name() const = 0;
  virtual Lookout lookout() const = 0;
  /// For Lookout::scores: after so many modifiers; not given, after all.
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

/// An observer at its place in a call.
struct Watcher {
  Lookout lookout;
  std::size_t after;  ///< Of modifiers, for scores.
  std::unique_ptr<Observation> observation;
};
using Watchers = ArenaVector<Watcher>;

}  // namespace heed

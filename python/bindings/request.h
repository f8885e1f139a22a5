// One call of attention, read from Python's arguments: tensors and stages. The part that
// runs without the interpreter's lock uses no Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "heed/attention/cache.h"
#include "heed/attention/spec.h"
#include "python/bindings/array.h"
#include "python/bindings/number.h"
#include "python/bindings/stage_argument.h"

namespace heed::python {

/// The arguments that heed.attention and heed.backward have in common, as they were given.
struct Arguments {
  nb::handle q, k = {}, v = {};
  nb::handle score, modifiers, mask, normaliser;
  std::optional<Real> scale = {};
  std::optional<Real> dropout = {};
  std::optional<std::uint64_t> seed = {};
  bool enable_gqa = false;
  nb::handle past_key = nb::handle(Py_None), past_value = nb::handle(Py_None);
  const KvCache* cache = nullptr;  ///< Used instead of k and v; grouped heads are always allowed.
};

/// Whether gradients are wanted: then every array is a leaf of the tape.
enum class Recording : std::uint8_t { off, on };

class Request {
 public:
  /// Throws TypeError or heed::Error for invalid arguments.
  Request(const Arguments& arguments, Recording recording);

  /// The arrays: q, k, v, those of the past, of the score, of the modifiers, a mask of floats,
  /// those of the normaliser.
  std::span<const Array> arrays() const { return arrays_; }
  const Array& query() const { return arrays_[0]; }
  bool has_past() const { return has_past_; }

  /// The arguments of heed's own functions, computed from the arrays by differentiable ops.
  struct Prepared {
    Tensor q, k, v;               ///< [B, H, Tq, D], [B, G, Tk, D], [B, G, Tk, Dv], past included.
    Tensor present_k, present_v;  ///< k and v as given, past included.
    Shape lead;                   ///< The result's axes before the last two.
    AttentionSpec spec;
    std::size_t own_modifiers =
        0;  ///< Number of modifiers in the spec; a mask of floats follows them.
  };
  Prepared prepare() const;

 private:
  // A stage and the indices of its arrays.
  struct Stage {
    StageArgument::Apply apply;
    std::size_t first = 0, count = 0;
  };

  std::size_t add_array(const char* name, Array array);
  void add_stage(const StageArgument& part);
  void read_score(const Arguments& arguments);
  void read_modifiers(nb::handle modifiers);
  void read_mask(nb::handle mask);
  void read_normaliser(nb::handle normaliser);
  /// A number of this call. Unlike a stage's, it may be an array of one element, since nothing
  /// keeps it; but it has no gradient.
  double number(const char* name, Real given) const;
  /// Array i in the precision that the call computes in.
  Tensor parameter(std::size_t i) const;

  Recording recording_;
  bool grouped_ = false;
  bool has_past_ = false;
  std::vector<Array> arrays_;
  std::vector<Stage> stages_;
  std::optional<std::size_t> bias_;  // the mask, if it is an array of floats
  Tensor seen_;                      // the mask, if it is an array of bool
  AttentionSpec spec_;               // the parts without arrays
};

}  // namespace heed::python

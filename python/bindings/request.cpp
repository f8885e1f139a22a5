#include "python/bindings/request.h"

#include <string>

#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/base/error.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "python/bindings/arrange.h"
#include "python/bindings/python_error.h"
#include "python/bindings/seed.h"

namespace heed::python {
namespace {

const char* describe(Role role) {
  switch (role) {
    case Role::score:
      return "a score";
    case Role::modifier:
      return "a modifier";
    case Role::normaliser:
      return "a normaliser";
  }
  return "";
}

const StageArgument& part_of(const char* argument, nb::handle object, Role role) {
  const StageArgument* part = nullptr;
  if (!nb::try_cast(object, part) || part == nullptr) {
    throw_type_error("{}: {} is not {}", argument, type_of(object), describe(role));
  }
  if (part->role != role) {
    throw_type_error("{}: heed.{} is {}, not {}", argument, part->name, describe(part->role),
                     describe(role));
  }
  return *part;
}

std::optional<std::string> name_in(nb::handle object) {
  if (!nb::isinstance<nb::str>(object)) return {};
  return nb::cast<nb::str>(object).c_str();
}

bool requires_gradient(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) != 0)
    return false;  // NumPy's arrays have none, and the check is slow
  PyObject* const flag = PyObject_GetAttrString(object.ptr(), "requires_grad");
  if (flag == nullptr) {
    PyErr_Clear();
    return false;
  }
  Py_DECREF(flag);  // True and False live on
  return flag == Py_True;
}

bool gradients_are_enabled() {
  return nb::cast<bool>(nb::module_::import_("torch").attr("is_grad_enabled")());
}

// A PyTorch tensor that requires a gradient would silently lose it in a call that is not recorded.
void refuse_gradient(const char* name, nb::handle object) {
  if (requires_gradient(object) && gradients_are_enabled()) {
    throw_type_error("{} requires a gradient: use heed.torch.attention, or {}.detach()", name,
                     name);
  }
}

Score score_by_name(const std::string& name, std::optional<double> scale) {
  if (name == "scaled_dot") return scaled_dot_score(scale);
  HEED_CHECK(!scale, "[attention] scale goes with the score 'scaled_dot', not with '{}'", name);
  HEED_CHECK(name == "dot",
             "[attention] score '{}': 'scaled_dot' and 'dot' go by name; heed.general_score, "
             "heed.additive_score and heed.cosine_score make others",
             name);
  return dot_score();
}

void check_dtypes(std::span<const Array> operands) {
  constexpr const char* kNames[] = {"q", "k", "v", "past_key", "past_value"};
  const auto name = [](const Array& x) { return x.half ? "f16" : name_of(x.dtype); };
  for (std::size_t i = 1; i < operands.size(); ++i) {
    HEED_CHECK(name(operands[i]) == name(operands[0]),
               "[attention] q is {}, {} {}: all must have one dtype", name(operands[0]), kNames[i],
               name(operands[i]));
  }
}

Normaliser normaliser_by_name(const std::string& name) {
  if (name == "softmax") return softmax_weights();
  if (name == "sigmoid") return sigmoid_weights();
  if (name == "sparsemax") return sparsemax_weights();
  HEED_CHECK(name == "none",
             "[attention] normaliser '{}': 'softmax', 'sparsemax', 'sigmoid' and 'none' go by "
             "name; heed.softmax_with_sink, heed.top_k_weights, heed.entmax_weights and "
             "heed.hard_weights make others",
             name);
  return no_normaliser();
}

}  // namespace

Request::Request(const Arguments& arguments, Recording recording)
    : recording_(recording), grouped_(arguments.enable_gqa || arguments.cache != nullptr) {
  arrays_.reserve(8);
  add_array("q", array_of("q", arguments.q));
  if (arguments.cache != nullptr) {
    arrays_.push_back({arguments.cache->keys(), {}, arguments.cache->dtype()});
    arrays_.push_back({arguments.cache->values(), {}, arguments.cache->dtype()});
  } else {
    add_array("k", array_of("k", arguments.k));
    add_array("v", array_of("v", arguments.v));
  }
  HEED_CHECK(arguments.past_key.is_none() == arguments.past_value.is_none(),
             "[attention] past_key and past_value go together: give both or none");
  if (!arguments.past_key.is_none()) {
    has_past_ = true;
    add_array("past_key", array_of("past_key", arguments.past_key));
    add_array("past_value", array_of("past_value", arguments.past_value));
  }
  if (arguments.cache == nullptr) check_dtypes(arrays_);
  read_score(arguments);
  read_modifiers(arguments.modifiers);
  read_mask(arguments.mask);
  read_normaliser(arguments.normaliser);
  const double dropout = arguments.dropout ? number("dropout", *arguments.dropout) : 0.0;
  if (dropout != 0.0) {
    spec_.reweights.push_back(weight_dropout(dropout, stream_of(arguments.seed)));
  }
}

std::size_t Request::add_array(const char* name, Array array) {
  check_floats(name, array);
  if (recording_ == Recording::on) {
    // The tape has no bf16; attention would convert it to f32 itself.
    if (array.dtype == DType::bf16) array.tensor = cast_data(array.tensor, DType::f32);
    array.tensor.requires_grad();
  } else {
    refuse_gradient(name, array.object);
  }
  arrays_.push_back(std::move(array));
  return arrays_.size() - 1;
}

void Request::add_stage(const StageArgument& part) {
  Stage stage{part.apply, arrays_.size(), part.arrays.size()};
  for (const NamedArray& given : part.arrays)
    add_array(given.name, array_of(given.name, given.array));
  stages_.push_back(std::move(stage));
}

void Request::read_score(const Arguments& arguments) {
  if (const auto name = name_in(arguments.score)) {
    std::optional<double> scale;
    if (arguments.scale) scale = number("scale", *arguments.scale);
    spec_.score = score_by_name(*name, scale);
    return;
  }
  const StageArgument& part = part_of("score", arguments.score, Role::score);
  HEED_CHECK(!arguments.scale, "[attention] scale goes with the score 'scaled_dot', not with {}",
             part.name);
  add_stage(part);
}

void Request::read_modifiers(nb::handle modifiers) {
  if (nb::isinstance<StageArgument>(modifiers)) {
    return add_stage(part_of("modifiers", modifiers, Role::modifier));
  }
  if (PySequence_Check(modifiers.ptr()) == 0) {
    throw_type_error("modifiers: {} is neither a modifier nor a sequence of them",
                     type_of(modifiers));
  }
  for (const nb::handle item : nb::borrow<nb::sequence>(modifiers)) {
    add_stage(part_of("modifiers", item, Role::modifier));
  }
}

void Request::read_mask(nb::handle mask) {
  if (mask.is_none()) return;
  if (const Mask* given = nullptr; nb::try_cast(mask, given) && given != nullptr) {
    spec_.mask = *given;
    return;
  }
  Array array = array_of("mask", mask);
  if (array.dtype == DType::boolean) {
    seen_ = array.tensor;
  } else {
    bias_ = add_array("mask", std::move(array));
  }
}

void Request::read_normaliser(nb::handle normaliser) {
  if (const auto name = name_in(normaliser)) {
    spec_.normaliser = normaliser_by_name(*name);
  } else {
    add_stage(part_of("normaliser", normaliser, Role::normaliser));
  }
}

double Request::number(const char* name, Real given) const {
  if (const auto value = number_in(given.object)) return *value;
  // A recorded call is made for gradients; PyTorch has disabled its own meanwhile.
  const bool wants_gradient =
      requires_gradient(given.object) && (recording_ == Recording::on || gradients_are_enabled());
  if (wants_gradient) {
    throw_type_error(
        "{} requires a gradient, which heed does not compute for it: give {}.item(), "
        "or a stage such as heed.temperature, which has one",
        name, name);
  }
  double value = 0.0;
  return nb::try_cast(given.object, value) ? value : given.value(name);
}

Tensor Request::parameter(std::size_t i) const {
  const DType dtype = arrays_[0].tensor.dtype();
  return cast(arrays_[i].tensor, dtype == DType::bf16 ? DType::f32 : dtype);
}

Request::Prepared Request::prepare() const {
  Prepared ready;
  ready.present_k = arrays_[1].tensor;
  ready.present_v = arrays_[2].tensor;
  if (has_past_) {
    ready.present_k = concat({arrays_[3].tensor, ready.present_k}, -2);
    ready.present_v = concat({arrays_[4].tensor, ready.present_v}, -2);
  }
  Arranged arranged = arrange(arrays_[0].tensor, ready.present_k, ready.present_v,
                              grouped_ ? Heads::grouped : Heads::broadcast);
  ready.q = std::move(arranged.q);
  ready.k = std::move(arranged.k);
  ready.v = std::move(arranged.v);
  ready.lead = arranged.lead;
  ready.spec = spec_;
  // The caller's stages change weights before dropout does, which is already in the spec.
  const std::vector<Reweight> last = std::exchange(ready.spec.reweights, {});
  for (const Stage& stage : stages_) {
    std::vector<Tensor> arrays;
    for (std::size_t i = 0; i < stage.count; ++i) arrays.push_back(parameter(stage.first + i));
    stage.apply(ready.spec, arrays);
  }
  ready.spec.reweights.insert(ready.spec.reweights.end(), last.begin(), last.end());
  ready.own_modifiers = ready.spec.modifiers.size();
  if (bias_)
    ready.spec.modifiers.push_back(dense_bias(arrange_pairs(parameter(*bias_), ready.lead)));
  if (seen_.defined()) ready.spec.mask = boolean_mask(arrange_pairs(seen_, ready.lead));
  return ready;
}

}  // namespace heed::python

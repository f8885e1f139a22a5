// Scores, modifiers and normalisers: the stages of attention besides masks.

#include <optional>

#include "heed/attention/normaliser.h"
#include "heed/attention/stages.h"
#include "heed/base/error.h"
#include "python/bindings/array.h"
#include "python/bindings/bind.h"
#include "python/bindings/corner.h"
#include "python/bindings/number.h"
#include "python/bindings/seed.h"
#include "python/bindings/stage_argument.h"

namespace heed::python {
namespace {

using Arrays = std::span<const Tensor>;

// Rejects what is not an array when the stage is made, not at the first call.
StageArgument make(const char* name, Role role, std::vector<NamedArray> arrays,
                   StageArgument::Apply apply) {
  for (const NamedArray& given : arrays) floats_of(given.name, given.array);
  return {name, role, std::move(arrays), std::move(apply)};
}

StageArgument modifier(const char* name, std::vector<NamedArray> arrays,
                       StageArgument::Apply apply) {
  return make(name, Role::modifier, std::move(arrays), std::move(apply));
}

NamedArray named(const char* name, nb::handle array) { return {name, nb::borrow(array)}; }

// ---- scores ----

StageArgument general(nb::handle weight) {
  return make("general_score", Role::score, {named("weight", weight)},
              [](AttentionSpec& spec, Arrays x) { spec.score = general_score(x[0]); });
}

StageArgument additive(nb::handle weights) {
  return make("additive_score", Role::score, {named("weights", weights)},
              [](AttentionSpec& spec, Arrays x) { spec.score = additive_score(x[0]); });
}

StageArgument cosine(nb::handle scale) {
  if (const auto number = number_in(scale)) {
    return {"cosine_score", Role::score, {}, [number](AttentionSpec& spec, Arrays) {
              spec.score = cosine_score(*number);
            }};
  }
  return make("cosine_score", Role::score, {named("scale", scale)},
              [](AttentionSpec& spec, Arrays x) { spec.score = cosine_score(x[0]); });
}

// ---- modifiers ----

StageArgument bias(nb::handle array) {
  return modifier("dense_bias", {named("array", array)}, [](AttentionSpec& spec, Arrays x) {
    spec.modifiers.push_back(dense_bias(x[0]));
  });
}

StageArgument alibi_part(nb::handle slopes, nb::handle corner) {
  const Corner at = corner_of(corner);
  if (const auto heads = whole_number_in(slopes)) {
    HEED_CHECK(*heads > 0, "[alibi] {} heads: give a positive number of them, or slopes", *heads);
    const nb::object of_paper = to_numpy(alibi_slopes(*heads, DType::f64));
    return alibi_part(of_paper, corner);
  }
  return modifier("alibi", {named("slopes", slopes)}, [at](AttentionSpec& spec, Arrays x) {
    spec.modifiers.push_back(alibi(x[0], at));
  });
}

StageArgument distance(nb::handle table, Whole zero, nb::handle corner) {
  return modifier(
      "distance_bias", {named("table", table)},
      [at_zero = zero.value("zero"), at = corner_of(corner)](AttentionSpec& spec, Arrays x) {
        spec.modifiers.push_back(distance_bias(x[0], at_zero, at));
      });
}

StageArgument t5(nb::handle table, bool bidirectional, Whole max_distance, nb::handle corner) {
  const T5Options options{bidirectional, max_distance.value("max_distance"), corner_of(corner)};
  return modifier("t5_bias", {named("table", table)}, [options](AttentionSpec& spec, Arrays x) {
    spec.modifiers.push_back(t5_bias(x[0], options));
  });
}

// Tables by distance, of keys, of values or of both.
struct RelativeStages {
  const char* name;
  Modifier (*of_keys)(const Tensor& table, Corner corner);
  Reweight (*of_values)(const Tensor& table, Corner corner);
};

StageArgument relative(RelativeStages stages, nb::handle keys, nb::handle values,
                       nb::handle corner) {
  HEED_CHECK(!keys.is_none() || !values.is_none(), "[{}] give a table of keys, of values or both",
             stages.name);
  std::vector<NamedArray> arrays;
  if (!keys.is_none()) arrays.push_back(named("keys", keys));
  if (!values.is_none()) arrays.push_back(named("values", values));
  const bool has_keys = !keys.is_none(), has_values = !values.is_none();
  return modifier(stages.name, std::move(arrays),
                  [=, at = corner_of(corner)](AttentionSpec& spec, Arrays x) {
                    if (has_keys) spec.modifiers.push_back(stages.of_keys(x.front(), at));
                    if (has_values) spec.reweights.push_back(stages.of_values(x.back(), at));
                  });
}

StageArgument shaw(nb::handle keys, nb::handle values, nb::handle corner) {
  return relative({"shaw", shaw_keys, shaw_values}, keys, values, corner);
}

StageArgument circular(nb::handle keys, nb::handle values, nb::handle corner) {
  return relative({"circular", circular_keys, circular_values}, keys, values, corner);
}

StageArgument softcap(Real given) {
  const double cap = given.value("cap");
  soft_cap(cap);  // rejects invalid caps
  return {"soft_cap", Role::modifier, {}, [cap](AttentionSpec& spec, Arrays) {
            spec.modifiers.push_back(soft_cap(cap));
          }};
}

StageArgument temperature_part(nb::handle value) {
  if (const auto number = number_in(value)) {
    temperature(*number);  // rejects 0
    return {"temperature", Role::modifier, {}, [number](AttentionSpec& spec, Arrays) {
              spec.modifiers.push_back(temperature(*number));
            }};
  }
  return modifier("temperature", {named("value", value)}, [](AttentionSpec& spec, Arrays x) {
    spec.modifiers.push_back(temperature(x[0]));
  });
}

StageArgument gaussian_part(nb::handle centres, Real deviation) {
  return modifier("gaussian", {named("centres", centres)},
                  [width = deviation.value("deviation")](AttentionSpec& spec, Arrays x) {
                    spec.reweights.push_back(gaussian(x[0], width));
                  });
}

// ---- normalisers ----

StageArgument sink(nb::handle sinks) {
  return make("softmax_with_sink", Role::normaliser, {named("sinks", sinks)},
              [](AttentionSpec& spec, Arrays x) { spec.normaliser = softmax_with_sink(x[0]); });
}

StageArgument top_k(Whole given) {
  const std::int64_t k = given.value("k");
  top_k_weights(k);  // rejects invalid k
  return {"top_k_weights", Role::normaliser, {}, [k](AttentionSpec& spec, Arrays) {
            spec.normaliser = top_k_weights(k);
          }};
}

StageArgument entmax(Real given) {
  const double alpha = given.value("alpha");
  entmax_weights(alpha);  // rejects invalid alpha
  return {"entmax_weights", Role::normaliser, {}, [alpha](AttentionSpec& spec, Arrays) {
            spec.normaliser = entmax_weights(alpha);
          }};
}

StageArgument hard(std::optional<std::uint64_t> seed) {
  return {"hard_weights",
          Role::normaliser,
          {},
          [stream = stream_of(seed)](AttentionSpec& spec, Arrays) {
            spec.normaliser = hard_weights(stream);
          }};
}

std::string repr(const StageArgument& part) {
  std::string text = std::string("heed.") + part.name + "(";
  for (const NamedArray& given : part.arrays) {
    if (text.back() != '(') text += ", ";
    text += given.name;
  }
  return text + ")";
}

nb::list arrays_of(const StageArgument& part) {
  nb::list arrays;
  for (const NamedArray& given : part.arrays) arrays.append(given.array);
  return arrays;
}

}  // namespace

void bind_stages(nb::module_& m) {
  const char* const corner = "top_left";
  nb::class_<StageArgument>(
      m, "Stage",
      "A score, a modifier or a normaliser. Its arrays are read at every call, so they "
      "may be changed in place between calls.")
      .def_prop_ro("name", [](const StageArgument& self) { return self.name; })
      .def_prop_ro("arrays", &arrays_of,
                   nb::for_getter(nb::sig("def arrays(self, /) -> list[typing.Any]")),
                   "The arrays that it was made with, which can be learned.")
      .def("__repr__", &repr);

  m.def(
      "general_score", &general, nb::arg("weight"),
      "Score q^T W k: weight [D, Dk], or [H, D, Dk] with one matrix per head (Luong et al. 2015).");
  m.def("additive_score", &additive, nb::arg("weights"),
        "Score sum_d w[d] tanh(q[d] + k[d]): weights [D] or [H, D]; q and k are already projected "
        "(Bahdanau et al. 2015).");
  m.def("cosine_score", &cosine, nb::arg("scale") = 1.0,
        "Score scale * q . k / (|q| |k|); the scale is a number, which is a constant, or an array "
        "of 1 or H numbers, which can be learned.");

  m.def("dense_bias", &bias, nb::arg("array"),
        "score += array[b, h, i, j]; axes may be 1, and leading axes may be absent.");
  m.def("alibi", &alibi_part, nb::arg("slopes"), nb::arg("corner") = corner,
        "score -= slopes[h] |i - j| (Press et al. 2022); an int is the number of heads, with the "
        "slopes of the paper.");
  m.def(
      "alibi_slopes", [](std::int64_t heads) { return to_numpy(alibi_slopes(heads)); },
      nb::arg("heads"), "The slopes of the paper, [heads].");
  m.def("distance_bias", &distance, nb::arg("table"), nb::arg("zero"), nb::arg("corner") = corner,
        "score += table[h, i - j + zero]; table [H, length] or [length].");
  m.def("t5_bias", &t5, nb::arg("table"), nb::kw_only(), nb::arg("bidirectional") = true,
        nb::arg("max_distance") = 128, nb::arg("corner") = corner,
        "T5's relative position bias: table [buckets, H] as in its checkpoints (Raffel et al. "
        "2020).");
  m.def("shaw", &shaw, nb::arg("keys") = nb::none(), nb::arg("values") = nb::none(),
        nb::arg("corner") = corner,
        "Relative positions: tables [2c + 1, D] and [2c + 1, Dv], or one per head; distances "
        "beyond c "
        "share the last row (Shaw et al. 2018).");
  m.def("circular", &circular, nb::arg("keys") = nb::none(), nb::arg("values") = nb::none(),
        nb::arg("corner") = corner,
        "Relative vectors on a ring: tables [n, D] or [H, n, D] by the distance (j - i) mod n.");
  m.def("soft_cap", &softcap, nb::arg("cap"), "score = cap tanh(score / cap).");
  m.def("temperature", &temperature_part, nb::arg("value"),
        "score /= value, a number, which is a constant, or an array of 1 or H numbers, which can "
        "be learned.");
  m.def("gaussian", &gaussian_part, nb::arg("centres"), nb::arg("deviation"),
        "weight *= exp(-(j - centres[b, h, i])^2 / (2 deviation^2)) (Luong et al. 2015, local-p).");

  m.def("softmax_with_sink", &sink, nb::arg("sinks"),
        "Softmax with one more term e^sinks[h] in each sum: weight that goes nowhere.");
  m.def("top_k_weights", &top_k, nb::arg("k"), "Softmax over the k best keys of each query.");
  m.def("entmax_weights", &entmax, nb::arg("alpha") = 1.5,
        "Alpha-entmax, 1 < alpha <= 2: weights that sum to 1 and of which many are exactly 0 "
        "(Peters et al. 2019); alpha 2 is sparsemax.");
  m.def("hard_weights", &hard, nb::arg("seed") = nb::none(),
        "All weight goes to one key, sampled with the probability that softmax gives it.");
}

}  // namespace heed::python

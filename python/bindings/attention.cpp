// heed.attention and what stands on it: recording for gradients, and backward.
#include "heed/attention/attention.h"

#include <string>

#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "python/bindings/arrange.h"
#include "python/bindings/bind.h"
#include "python/bindings/python_error.h"
#include "python/bindings/request.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

// ---- results ----

/// What is returned besides the output.
struct Wanted {
  bool weights = false;
  bool log_sum_exp = false;
  std::optional<std::string> scores;
  bool present = false;

  bool anything() const { return weights || log_sum_exp || scores || present; }
};

struct Seen {
  Tensor weights, scores, log_sum_exp;
};

// How many of the spec's modifiers come before a stage of scores; none: all of them, and the mask.
std::optional<std::size_t> modifiers_before(const std::string& stage, std::size_t own) {
  if (stage == "raw") return 0;
  if (stage == "modified") return own;
  HEED_CHECK(stage == "masked",
             "[attention] return_scores '{}': the stages are 'raw', 'modified' and 'masked'",
             stage);
  return {};
}

// Adds observers to the spec. Scores before the mask are those of all pairs, and hidden ones are
// not computed: they take a call of their own.
void observe(Request::Prepared& ready, const Wanted& wanted, Seen& seen) {
  if (wanted.weights) ready.spec.observe.push_back(observe_weights(seen.weights));
  if (wanted.log_sum_exp) ready.spec.observe.push_back(observe_log_sum_exp(seen.log_sum_exp));
  if (!wanted.scores) return;
  const auto after = modifiers_before(*wanted.scores, ready.own_modifiers);
  if (!after || ready.spec.see.everything()) {
    ready.spec.observe.push_back(observe_scores(seen.scores, {}, after));
    return;
  }
  const NoGrad no_grad;
  AttentionSpec all = ready.spec;
  all.see = {};
  all.reweight = {};
  all.observe = {observe_scores(seen.scores, {}, after)};
  attention(ready.q, ready.k, ready.v, all);
}

nb::object give(const Tensor& result, const Shape& lead, const Array& like) {
  return to_array(restore(result, lead), like);
}

// Weights and scores, which are observed in f32, in the precision of the array.
nb::object give_observed(const Tensor& result, const Shape& lead, const Array& like) {
  return give(cast_data(result, like.dtype), lead, like);
}

// The output alone, or a tuple with what else was wanted behind it.
nb::object gather(nb::object output, const Request& request, const Request::Prepared& ready,
                  const Wanted& wanted, const Seen& seen) {
  if (!wanted.anything()) return output;
  nb::list all;
  all.append(output);
  const Array& like = request.query();
  if (wanted.weights) all.append(give_observed(seen.weights, ready.lead, like));
  if (wanted.log_sum_exp) {
    Array precise = like;  // 16 bits are too few for a logarithm that is taken back
    precise.half = false;
    all.append(give(seen.log_sum_exp, ready.lead, precise));
  }
  if (wanted.scores) all.append(give_observed(seen.scores, ready.lead, like));
  if (wanted.present) {  // without a past, they are what the caller has
    const std::span<const Array> given = request.arrays();
    all.append(request.has_past() ? to_array(ready.present_k, like) : nb::borrow(given[1].object));
    all.append(request.has_past() ? to_array(ready.present_v, like) : nb::borrow(given[2].object));
  }
  return nb::tuple(all);
}

// ---- heed.attention ----

// A tensor of PyTorch's on the tape would silently lose its gradient here.
void refuse_gradient(const char* name, nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) return;  // NumPy's have none, and asking takes long
  PyObject* const flag = PyObject_GetAttrString(object.ptr(), "requires_grad");
  if (flag == nullptr) return PyErr_Clear();
  const bool tracked = flag == Py_True;
  Py_DECREF(flag);
  if (tracked && nb::cast<bool>(nb::module_::import_("torch").attr("is_grad_enabled")())) {
    throw_type_error("{} requires a gradient: use heed.torch.attention, or {}.detach()", name,
                     name);
  }
}

void write_output(const Request::Prepared& ready, const Request& request, nb::handle out) {
  if (request.query().half)
    throw_type_error("out: results of 16 bits are made anew: leave it away");
  Tensor to = writable_tensor_of("out", out);
  for (const Array& array : request.arrays()) {
    HEED_CHECK(!may_overlap(to, array.tensor),
               "[attention] out shares memory with an argument: give an array of its own");
  }
  HEED_CHECK(elements_apart(to),
             "[attention] out has several elements in one place: give an array of its own");
  Shape wanted = ready.lead;
  wanted.push_back(ready.q.size(2));
  wanted.push_back(ready.v.size(3));
  HEED_CHECK(to.shape() == wanted, "[attention] out is {}: the result is {}", to_string(to.shape()),
             to_string(wanted));
  const Shape four{ready.q.size(0), ready.q.size(1), ready.q.size(2), ready.v.size(3)};
  HEED_CHECK(view::can_reshape(to, four),
             "[attention] out is not contiguous, which with {} axes it must be", to.rank());
  Tensor as_four = view::reshape(to, four);
  const Unlocked unlocked;
  attention_into(as_four, ready.q, ready.k, ready.v, ready.spec);
}

nb::object attention_in_python(const Arguments& arguments, const Wanted& wanted, nb::handle out) {
  const NoGrad no_grad;
  const Request request(arguments, Recording::off);
  Request::Prepared ready;
  Seen seen;
  Tensor output;
  {
    const Unlocked unlocked;
    ready = request.prepare();
    observe(ready, wanted, seen);
    if (out.is_none()) output = attention(ready.q, ready.k, ready.v, ready.spec);
  }
  if (!out.is_none()) {
    write_output(ready, request, out);
    return gather(nb::borrow(out), request, ready, wanted, seen);
  }
  return gather(give(output, ready.lead, request.query()), request, ready, wanted, seen);
}

// The call as C++ makes it, n times: what the benchmarks compare a call from Python with.
nb::object repeat_attention(nb::handle q, nb::handle k, nb::handle v, std::int64_t n) {
  const NoGrad no_grad;
  const Array query = array_of("q", q);
  const Tensor keys = array_of("k", k).tensor, values = array_of("v", v).tensor;
  Tensor output;
  {
    const Unlocked unlocked;
    for (std::int64_t i = 0; i < n; ++i) output = attention(query.tensor, keys, values);
  }
  return to_array(output, query);
}

// ---- gradients ----

/// A call that was recorded, and can be walked back any number of times.
class Recorded {
 public:
  Recorded(const Arguments& arguments, const Wanted& wanted)
      : request_(arguments, Recording::on), wanted_(wanted) {
    for (const Array& array : request_.arrays()) objects_.push_back(nb::borrow(array.object));
    const Unlocked unlocked;
    ready_ = request_.prepare();
    observe(ready_, wanted, seen_);
    run();
  }

  /// The output, and what else was wanted, off the tape.
  nb::object results() const {
    const Tensor output = cast_data(output_.detach(), request_.query().dtype);
    Seen seen = seen_;
    if (wanted_.log_sum_exp) seen.log_sum_exp = log_sum_exp_;
    return gather(give(output, ready_.lead, request_.query()), request_, ready_, wanted_, seen);
  }

  /// The gradients of all arrays, in the order of Request::arrays(), None where `needed` is false.
  nb::list backward(nb::handle d_output, nb::handle d_log_sum_exp,
                    const std::vector<bool>& needed) {
    const std::optional<Tensor> dy = gradient_of("d_output", d_output, output_);
    const std::optional<Tensor> d_lse =
        wanted_.log_sum_exp ? gradient_of("d_lse", d_log_sum_exp, log_sum_exp_) : std::nullopt;
    {
      const Unlocked unlocked;
      // A tape is walked once. Whoever keeps the graph for a second time pays for it then.
      if (walked_) {
        ready_ = request_.prepare();
        run();
      }
      walked_ = true;
      for (const Array& array : request_.arrays()) Tensor(array.tensor).set_grad({});
      walk(dy, d_lse);
    }
    nb::list gradients;
    for (std::size_t i = 0; i < request_.arrays().size(); ++i) {
      const Array& array = request_.arrays()[i];
      if (i < needed.size() && !needed[i]) {
        gradients.append(nb::none());
        continue;
      }
      const Tensor gradient = array.tensor.grad();
      gradients.append(to_array(gradient.defined() ? cast_data(gradient, array.dtype)
                                                   : zeros(array.tensor.shape(), array.dtype),
                                array));
    }
    for (const Array& array : request_.arrays()) Tensor(array.tensor).set_grad({});
    return gradients;
  }

 private:
  void run() {
    if (wanted_.log_sum_exp) {
      AttentionResult result =
          attention_with_log_sum_exp(ready_.q, ready_.k, ready_.v, ready_.spec);
      output_ = std::move(result.output);
      log_sum_exp_ = std::move(result.log_sum_exp);
    } else {
      output_ = attention(ready_.q, ready_.k, ready_.v, ready_.spec);
    }
  }

  // The gradient of a result, in its four axes; none if none was given.
  std::optional<Tensor> gradient_of(const char* name, nb::handle object,
                                    const Tensor& result) const {
    if (object.is_none()) return {};
    Shape given = ready_.lead;
    for (int i = 2; i < result.rank(); ++i) given.push_back(result.shape()[i]);
    const Tensor gradient = parameter_of(name, object, result.dtype());
    HEED_CHECK(gradient.shape() == given, "[backward] {} is {}: the result is {}", name,
               to_string(gradient.shape()), to_string(given));
    return reshape(gradient, result.shape());
  }

  void walk(const std::optional<Tensor>& dy, const std::optional<Tensor>& d_lse) const {
    if (dy && !d_lse) return heed::backward(output_, *dy);
    if (d_lse && !dy) return heed::backward(log_sum_exp_, *d_lse);
    if (dy && d_lse) (sum(output_ * *dy) + sum(log_sum_exp_ * *d_lse)).backward();
  }

  Request request_;
  Wanted wanted_;
  std::vector<nb::object> objects_;  // the arrays, which results are made like
  Request::Prepared ready_;
  Seen seen_;
  Tensor output_, log_sum_exp_;
  bool walked_ = false;
};

Wanted wanted_of(bool weights, bool lse, nb::handle scores, bool present) {
  Wanted wanted{.weights = weights, .log_sum_exp = lse, .scores = {}, .present = present};
  if (scores.is_none()) return wanted;
  if (!nb::isinstance<nb::str>(scores)) {
    throw_type_error("return_scores: {} is no name of a stage", type_of(scores));
  }
  wanted.scores = nb::cast<nb::str>(scores).c_str();
  return wanted;
}

constexpr const char* kAttentionDoc =
    "Attention: output = weights v, weights = normalise(modify(score(q, k))) over the keys that a "
    "query may see.\n\n"
    "q [..., H, Tq, D], k [..., G, Tk, D], v [..., G, Tk, Dv], from two axes on: arrays of "
    "anything "
    "that speaks DLPack or the buffer protocol, on the CPU. The result is an array of q's library; "
    "axes before the last two are broadcast, and with enable_gqa H may be a multiple of G. A query "
    "that sees nothing gets 0.\n\n"
    "mask: a heed.Mask, an array of bool (true: may be seen) or an array of floats, which is added "
    "to the scores after all modifiers. past_key and past_value go in front of k and v.\n\n"
    "What is asked for by return_weights, return_lse, return_scores ('raw', 'modified' or "
    "'masked') "
    "and return_present follows the output in a tuple, in this order: weights and scores in q's "
    "precision, the log-sum-exp in at least 32 bits, and keys and values, past included, which "
    "without a past are k and v themselves.";

}  // namespace

void bind_attention(nb::module_& m) {
  m.def(
      "attention",
      [](nb::handle q, nb::handle k, nb::handle v, nb::handle score, nb::handle modifiers,
         nb::handle mask, nb::handle normaliser, std::optional<double> scale, double dropout,
         std::optional<std::uint64_t> seed, bool enable_gqa, bool return_weights, bool return_lse,
         nb::handle return_scores, nb::handle out, nb::handle past_key, nb::handle past_value,
         bool return_present) {
        refuse_gradient("q", q);
        refuse_gradient("k", k);
        refuse_gradient("v", v);
        return attention_in_python(
            {q, k, v, score, modifiers, mask, normaliser, scale, dropout, seed, enable_gqa,
             past_key, past_value},
            wanted_of(return_weights, return_lse, return_scores, return_present), out);
      },
      nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::kw_only(), nb::arg("score") = "scaled_dot",
      nb::arg("modifiers") = nb::tuple(), nb::arg("mask") = nb::none(),
      nb::arg("normaliser") = "softmax", nb::arg("scale") = nb::none(), nb::arg("dropout") = 0.0,
      nb::arg("seed") = nb::none(), nb::arg("enable_gqa") = false,
      nb::arg("return_weights") = false, nb::arg("return_lse") = false,
      nb::arg("return_scores") = nb::none(), nb::arg("out") = nb::none(),
      nb::arg("past_key") = nb::none(), nb::arg("past_value") = nb::none(),
      nb::arg("return_present") = false, kAttentionDoc);

  m.def(
      "repeat_attention", &repeat_attention, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("n"),
      "Runs n calls of attention in C++ and returns the last one's output: for benchmarks of what "
      "Python adds.");

  nb::class_<Recorded>(m, "Recorded", "A call of attention that can be walked back.")
      .def(
          "__init__",
          [](Recorded* self, nb::handle q, nb::handle k, nb::handle v, nb::handle score,
             nb::handle modifiers, nb::handle mask, nb::handle normaliser,
             std::optional<double> scale, double dropout, std::optional<std::uint64_t> seed,
             bool enable_gqa, bool return_weights, bool return_lse, nb::handle return_scores,
             nb::handle past_key, nb::handle past_value, bool return_present) {
            new (self)
                Recorded({q, k, v, score, modifiers, mask, normaliser, scale, dropout, seed,
                          enable_gqa, past_key, past_value},
                         wanted_of(return_weights, return_lse, return_scores, return_present));
          },
          nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::kw_only(), nb::arg("score") = "scaled_dot",
          nb::arg("modifiers") = nb::tuple(), nb::arg("mask") = nb::none(),
          nb::arg("normaliser") = "softmax", nb::arg("scale") = nb::none(),
          nb::arg("dropout") = 0.0, nb::arg("seed") = nb::none(), nb::arg("enable_gqa") = false,
          nb::arg("return_weights") = false, nb::arg("return_lse") = false,
          nb::arg("return_scores") = nb::none(), nb::arg("past_key") = nb::none(),
          nb::arg("past_value") = nb::none(), nb::arg("return_present") = false)
      .def("results", &Recorded::results, "What heed.attention would have returned.")
      .def(
          "backward", &Recorded::backward, nb::arg("d_output").none(),
          nb::arg("d_lse").none() = nb::none(), nb::arg("needed") = std::vector<bool>{},
          nb::sig("def backward(self, d_output: object | None, d_lse: object | None = None, "
                  "needed: collections.abc.Sequence[bool] = []) -> list[typing.Any]"),
          "The gradients of all arrays: q, k, v, past_key and past_value, those of the score, of "
          "the modifiers, a mask of floats, those of the normaliser. `needed` says which; those it "
          "does not reach are.");
}

}  // namespace heed::python

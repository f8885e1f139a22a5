// heed.attention.
#include "heed/attention/attention.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/view.h"
#include "python/bindings/bind.h"
#include "python/bindings/def_attention.h"
#include "python/bindings/python_error.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

void write_output(const Request::Prepared& ready, const Request& request, nb::handle out) {
  if (request.query().half)
    throw_type_error("out: 16-bit results need a new array: leave out `out`");
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

// Runs the same call n times in C++: the baseline of the benchmarks for calls from Python.
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

constexpr const char* kAttentionDoc =
    "Attention: output = weights v, weights = normalise(modify(score(q, k))) over the keys that a "
    "query may attend to.\n\n"
    "q [..., H, Tq, D], k [..., G, Tk, D], v [..., G, Tk, Dv], from two axes on: arrays of "
    "anything "
    "that supports DLPack or the buffer protocol, on the CPU. The result is an array of q's "
    "library; "
    "axes before the last two are broadcast, and with enable_gqa H may be a multiple of G. A query "
    "without visible keys gets 0.\n\n"
    "mask: a heed.Mask, an array of bool (true: visible) or an array of floats, which is added "
    "to the scores after all modifiers. past_key and past_value are put before k and v.\n\n"
    "Results requested by return_weights, return_lse, return_scores ('raw', 'modified' or "
    "'masked') "
    "and return_present follow the output in a tuple, in this order: weights and scores in q's "
    "precision, the log-sum-exp in at least 32 bits, and keys and values, past included, which "
    "without a past are k and v themselves.";

}  // namespace

void bind_attention(nb::module_& m) {
  def_attention(m, "attention", attention_in_python, kAttentionDoc);

  m.def(
      "repeat_attention", &repeat_attention, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("n"),
      "Runs n calls of attention in C++ and returns the last one's output: for benchmarks of what "
      "Python adds.");
}

}  // namespace heed::python

// Calls of attention with gradients: the base of heed.backward and heed.torch.
#include "heed/attention/attention.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "python/bindings/bind.h"
#include "python/bindings/def_attention.h"
#include "python/bindings/python_error.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

/// A recorded call, whose backward pass can run any number of times.
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

  /// The output and the other requested results, without the tape.
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
      // The backward pass consumes the tape. A second one records the call again.
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
    const Tensor gradient = cast_data(floats_of(name, object).tensor, result.dtype());
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

// nanobind takes ownership of the pointer.
Recorded* record(const Arguments& arguments, const Wanted& wanted, nb::handle out) {
  if (!out.is_none()) throw_type_error("out: a call with gradients makes its results anew");
  return new Recorded(arguments, wanted);
}

}  // namespace

void bind_recorded(nb::module_& m) {
  nb::class_<Recorded>(m, "Recorded", "A recorded call of attention, for its gradients.")
      .def("results", &Recorded::results, "What heed.attention would have returned.")
      .def("backward", &Recorded::backward, nb::arg("d_output").none(),
           nb::arg("d_lse").none() = nb::none(), nb::arg("needed") = std::vector<bool>{},
           nb::sig("def backward(self, d_output: object | None, d_lse: object | None = None, "
                   "needed: collections.abc.Sequence[bool] = []) -> list[typing.Any]"),
           "The gradients of all arrays: q, k, v, past_key and past_value, those of the score, of "
           "the modifiers, a mask of floats, those of the normaliser. `needed` says which are "
           "computed; arrays beyond its end are.");
  def_attention(m, "record", record, nb::rv_policy::take_ownership,
                "Records a call of heed.attention, for its gradients.");
}

}  // namespace heed::python

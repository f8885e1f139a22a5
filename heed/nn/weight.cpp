#include "heed/nn/weight.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

namespace {

// A packed product, without gradient.
Tensor packed_product(const PackedWeight& weight, const Tensor& x, const LinearOptions& options,
                      std::int64_t begin, std::int64_t end) {
  HEED_CHECK(!detail::wants_tape(detail::TensorRefs{x, options.bias}),
             "[weight] a packed weight has no gradient: use NoGrad, or a model that is loaded for "
             "training");
  return weight.product(x, options, begin, end);  // […, end - begin]
}

}  // namespace

Tensor Weight::product(const Tensor& x, const LinearOptions& options) const {
  if (packed) return packed_product(*packed, x, options, 0, out());  // […, out]
  if (!adapter.defined()) return linear(x, data, options);           // […, out]
  const Tensor low = linear(x, adapter.down);                        // […, rank]
  const Tensor sum =
      linear(x, data, {.bias = options.bias}) + linear(low, adapter.up) * adapter.scale;
  return options.activation ? unary(*options.activation, sum) : sum;  // […, out]
}

Weight Weight::rows(std::int64_t begin, std::int64_t end) const {
  HEED_ASSERT(!packed);
  check_rows(begin, end);
  Weight part(slice(data, 0, begin, end));  // [end - begin, in]
  if (adapter.defined())
    part.adapter = {adapter.down, slice(adapter.up, 0, begin, end), adapter.scale};
  return part;
}

Weight Weight::select(std::span<const std::int32_t> rows) const {
  const NoGrad no_grad;
  Weight part;
  if (packed) {
    part.packed = std::make_shared<const PackedWeight>(packed->select(rows));
    return part;
  }
  const Tensor ids = from_values(rows, {std::ssize(rows)});
  part.data = embedding(data, ids);  // [rows, in]
  if (adapter.defined()) part.adapter = {adapter.down, embedding(adapter.up, ids), adapter.scale};
  return part;
}

Tensor Weight::product_of_rows(const Tensor& x, std::int64_t begin, std::int64_t end,
                               const LinearOptions& options) const {
  if (!packed) return rows(begin, end).product(x, options);  // […, end - begin]
  check_rows(begin, end);
  return packed_product(*packed, x, options, begin, end);
}

void Weight::check_rows(std::int64_t begin, std::int64_t end) const {
  HEED_CHECK(0 <= begin && begin <= end && end <= out(),
             "[weight] rows {} to {} of a weight [{}, {}]: they must be within its {} rows", begin,
             end, out(), in(), out());
}

Tensor Weight::lookup(const Tensor& ids, std::optional<std::int64_t> padding) const {
  return packed ? packed->rows(ids) : embedding(data, ids, {.padding_index = padding});
}

void Weight::pack(PackedForm form, PackOptions how) {
  merge_adapter();
  how.refined = how.refined || refined;
  packed = std::make_shared<const PackedWeight>(data, form, how);
  data = {};
}

void Weight::merge_adapter() {
  if (!adapter.defined()) return;
  const NoGrad no_grad;
  const bool trained = data.tracks_grad();
  data = data.detach() + matmul(adapter.up.detach(), adapter.down.detach()) * adapter.scale;
  data.requires_grad(trained);
  adapter = {};
}

}  // namespace heed

#include "heed/ops/conv.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/conv.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

using kernels::ConvShape;

void check_conv(const char* op, int rank, const Tensor& x, const Tensor& weight,
                const Tensor& bias) {
  HEED_CHECK(x.rank() == rank && weight.rank() == rank,
             "[{}] x {} and weight {}: x must be {} and weight {}", op, to_string(x.shape()),
             to_string(weight.shape()), rank == 3 ? "[B, C, L]" : "[B, C, H, W]",
             rank == 3 ? "[O, C / groups, K]" : "[O, C / groups, Kh, Kw]");
  HEED_CHECK(!bias.defined() || (bias.rank() == 1 && bias.size(0) == weight.size(0)),
             "[{}] bias {} for weight {}: it must be [{}]", op, to_string(bias.shape()),
             to_string(weight.shape()), weight.size(0));
  HEED_CHECK(x.dtype() == weight.dtype() && (!bias.defined() || bias.dtype() == x.dtype()),
             "[{}] x is {}, weight {}{}: they must agree; cast one of them", op, name_of(x.dtype()),
             name_of(weight.dtype()),
             bias.defined() ? fmt::format(", bias {}", name_of(bias.dtype())) : "");
}

void check_groups(const char* op, const Tensor& x, const Tensor& weight, std::int64_t groups) {
  HEED_CHECK(groups >= 1 && x.size(1) % groups == 0 && weight.size(0) % groups == 0,
             "[{}] {} groups of {} input and {} output channels: groups must divide both", op,
             groups, x.size(1), weight.size(0));
  HEED_CHECK(weight.size(1) == x.size(1) / groups,
             "[{}] weight {} for x {} in {} groups: its second size must be {}", op,
             to_string(weight.shape()), to_string(x.shape()), groups, x.size(1) / groups);
}

// The sum of dy over all axes but the channels.
Tensor bias_gradient(const Tensor& dy) {
  Shape channels = Dims::filled(dy.rank() - 1, 1);
  channels[0] = dy.size(1);
  return view::reshape(sum_to(dy, channels), {dy.size(1)});
}

// Convolves x into y, which has the shape of the result, and records the op.
Tensor convolve(const char* op, const ConvShape& shape, const Tensor& x, const Tensor& weight,
                const Tensor& bias, Tensor y) {
  const Tensor in = contiguous_copy(x);
  const Tensor filter = contiguous_copy(weight);
  const Tensor offset = bias.defined() ? contiguous_copy(bias) : Tensor();
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::conv(shape, in.data<T>(), filter.data<T>(),
                  offset.defined() ? offset.data<T>() : nullptr, y.mutable_data<T>());
  });
  return record(op, {x, weight, bias}, y, [op, shape, in, filter](Backward& b) {
    const Tensor dy = contiguous_copy(b.dy());
    visit_float(op, dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if (b.needs(0)) {
        Tensor dx = empty_like(in);
        kernels::conv_backward_input(shape, filter.data<T>(), dy.data<T>(), dx.mutable_data<T>());
        b.add(0, std::move(dx));
      }
      if (b.needs(1)) {
        Tensor dw = empty_like(filter);
        kernels::conv_backward_weight(shape, in.data<T>(), dy.data<T>(), dw.mutable_data<T>());
        b.add(1, std::move(dw));
      }
      if (b.needs(2)) b.add(2, bias_gradient(dy));
    });
  });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Conv1dOptions& options) {
  check_conv("conv1d", 3, x, weight, options.bias);
  check_groups("conv1d", x, weight, options.groups);
  const kernels::SlidingAxis length =
      detail::checked_axis("conv1d", {.size = x.size(2),
                                      .kernel = weight.size(2),
                                      .stride = options.stride,
                                      .padding = options.padding,
                                      .dilation = options.dilation});
  const ConvShape shape{.batch = x.size(0),
                        .in_channels = x.size(1),
                        .out_channels = weight.size(0),
                        .groups = options.groups,
                        .window = {.rows = {}, .columns = length}};
  Tensor y = empty({x.size(0), weight.size(0), length.outputs()}, x.dtype());  // [B, O, L']
  return convolve("conv1d", shape, x, weight, options.bias, y);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options) {
  check_conv("conv2d", 4, x, weight, options.bias);
  check_groups("conv2d", x, weight, options.groups);
  const kernels::Window window{
      .rows = detail::checked_axis("conv2d", {.size = x.size(2),
                                              .kernel = weight.size(2),
                                              .stride = options.stride.height,
                                              .padding = options.padding.height,
                                              .dilation = options.dilation.height}),
      .columns = detail::checked_axis("conv2d", {.size = x.size(3),
                                                 .kernel = weight.size(3),
                                                 .stride = options.stride.width,
                                                 .padding = options.padding.width,
                                                 .dilation = options.dilation.width})};
  const ConvShape shape{.batch = x.size(0),
                        .in_channels = x.size(1),
                        .out_channels = weight.size(0),
                        .groups = options.groups,
                        .window = window};
  Tensor y = empty({x.size(0), weight.size(0), window.rows.outputs(), window.columns.outputs()},
                   x.dtype());  // [B, O, H', W']
  return convolve("conv2d", shape, x, weight, options.bias, y);
}

}  // namespace heed

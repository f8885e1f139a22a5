#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/batch_norm.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include "heed/base/threads.h"
#include "heed/kernels/batch_norm.h"
#include "heed/kernels/reference/batch_norm.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// The sum of f(part, i, total) over all planes of a channel, plane after plane.
template <typename F>
float sum_channel(const ChannelShape& s, std::int64_t channel, const F& f) {
  float total = 0.0f;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const std::int64_t at = (b * s.channels + channel) * s.places;
    total += sum_row(
        s.places, [&](auto part, std::int64_t i, VF sum) HWY_ATTR { return f(part, at + i, sum); });
  }
  return total;
}

void moments_of_channel(const ChannelShape& s, std::int64_t channel, const float* x, float* mean,
                        float* variance) {
  const auto count = static_cast<float>(s.elements_per_channel());
  const float total = sum_channel(s, channel, [x](auto part, std::int64_t i, VF sum) HWY_ATTR {
    return hn::Add(sum, part.load(x + i));
  });
  mean[channel] = total / count;
  const VF centre = hn::Set(F32(), mean[channel]);
  const float squares = sum_channel(s, channel, [=](auto part, std::int64_t i, VF sum) HWY_ATTR {
    const VF v = hn::Sub(part.load(x + i), centre);
    return part.keep(hn::MulAdd(v, v, sum), sum);
  });
  variance[channel] = squares / count;
}

template <bool kAdd, bool kRelu>
void norm_planes(const BatchNormForward<float>& c, std::int64_t channel) {
  const F32 d;
  const float weight = c.weight != nullptr ? c.weight[channel] : 1.0f;
  const VF centre = hn::Set(d, c.mean[channel]);
  const VF scale = hn::Set(d, c.rstd[channel] * weight);
  const VF bias = hn::Set(d, c.bias != nullptr ? c.bias[channel] : 0.0f);
  for (std::int64_t b = 0; b < c.shape.batch; ++b) {
    const std::int64_t at = (b * c.shape.channels + channel) * c.shape.places;
    const float* const x = c.x + at;
    const float* const add = kAdd ? c.add + at : nullptr;
    float* const y = c.y + at;
    map_row(c.shape.places, [=](auto part, std::int64_t i) HWY_ATTR {
      VF v = hn::MulAdd(hn::Sub(part.load(x + i), centre), scale, bias);
      if constexpr (kAdd) v = hn::Add(v, part.load(add + i));
      if constexpr (kRelu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(F32())), v);
      part.store(v, y + i);
    });
  }
}

void norm_channel(const BatchNormForward<float>& c, std::int64_t channel) {
  const auto run = c.add == nullptr
                       ? (c.relu ? norm_planes<false, true> : norm_planes<false, false>)
                       : (c.relu ? norm_planes<true, true> : norm_planes<true, false>);
  run(c, channel);
}

// The gradient that arrives before ReLU.
template <bool kRelu, class Part>
HWY_INLINE VF arriving(const BatchNormBackward<float>& c, Part part, std::int64_t i) {
  const VF dy = part.load(c.dy + i);
  if constexpr (!kRelu) return dy;
  return hn::IfThenElseZero(hn::Gt(part.load(c.relu_y + i), hn::Zero(F32())), dy);
}

struct GradientSums {
  VF dy, along;  // of dy, and of dy times the centred x
};

// The sums of a channel in one pass, plane after plane; writes dadd too.
template <bool kRelu>
void sum_gradients(const BatchNormBackward<float>& c, std::int64_t channel, float& sum,
                   float& along) {
  const F32 d;
  const VF centre = hn::Set(d, c.mean[channel]);
  sum = along = 0.0f;
  for (std::int64_t b = 0; b < c.shape.batch; ++b) {
    const std::int64_t at = (b * c.shape.channels + channel) * c.shape.places;
    const GradientSums sums = fold_row(
        c.shape.places, GradientSums{hn::Zero(d), hn::Zero(d)},
        [&](auto part, std::int64_t i, GradientSums total) HWY_ATTR {
          const VF dy = arriving<kRelu>(c, part, at + i);
          const VF centred = hn::Sub(part.load(c.x + at + i), centre);
          if (c.dadd != nullptr) part.store(dy, c.dadd + at + i);
          return GradientSums{hn::Add(total.dy, dy), hn::MulAdd(dy, centred, total.along)};
        },
        [](GradientSums a, GradientSums b2) HWY_ATTR {
          return GradientSums{hn::Add(a.dy, b2.dy), hn::Add(a.along, b2.along)};
        });
    sum += hn::GetLane(hn::SumOfLanes(d, sums.dy));
    along += hn::GetLane(hn::SumOfLanes(d, sums.along));
  }
}

template <bool kRelu>
void norm_backward_planes(const BatchNormBackward<float>& c, std::int64_t channel) {
  const F32 d;
  const float rstd = c.rstd[channel];
  const VF centre = hn::Set(d, c.mean[channel]);
  float sum, along;
  sum_gradients<kRelu>(c, channel, sum, along);
  along *= rstd;
  c.dbias[channel] = sum;
  c.dweight[channel] = along;
  const float weight = c.weight != nullptr ? c.weight[channel] : 1.0f;
  const float share =
      c.own_statistics ? 1.0f / static_cast<float>(c.shape.elements_per_channel()) : 0.0f;
  const VF scale = hn::Set(d, rstd * weight);
  const VF mean_dy = hn::Set(d, share * sum);
  const VF slope = hn::Set(d, share * along * rstd);  // of the centred x
  for (std::int64_t b = 0; b < c.shape.batch; ++b) {
    const std::int64_t at = (b * c.shape.channels + channel) * c.shape.places;
    map_row(c.shape.places, [&](auto part, std::int64_t i) HWY_ATTR {
      const VF centred = hn::Sub(part.load(c.x + at + i), centre);
      const VF dy =
          c.dadd != nullptr ? part.load(c.dadd + at + i) : arriving<kRelu>(c, part, at + i);
      const VF g = hn::Sub(dy, mean_dy);
      part.store(hn::Mul(scale, hn::NegMulAdd(centred, slope, g)), c.dx + at + i);
    });
  }
}

void norm_backward_channel(const BatchNormBackward<float>& c, std::int64_t channel) {
  const auto run = c.relu_y != nullptr ? norm_backward_planes<true> : norm_backward_planes<false>;
  run(c, channel);
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(moments_of_channel);
HWY_EXPORT(norm_channel);
HWY_EXPORT(norm_backward_channel);

template <typename F>
void for_each_channel(const ChannelShape& shape, const F& f) {
  constexpr std::int64_t kCost = 4;  // operations per element, roughly
  parallel_for(shape.channels, kCost * shape.elements_per_channel(), f);
}

}  // namespace

void channel_moments(const ChannelShape& shape, const float* x, float* mean, float* variance) {
  const auto moments = HEED_DISPATCH(moments_of_channel);
  for_each_channel(shape,
                   [&](std::int64_t channel) { moments(shape, channel, x, mean, variance); });
}
void channel_moments(const ChannelShape& shape, const double* x, double* mean, double* variance) {
  for_each_channel(shape, [&](std::int64_t channel) {
    reference::channel_moments(shape, channel, x, mean, variance);
  });
}

void batch_norm(const BatchNormForward<float>& call) {
  const auto norm = HEED_DISPATCH(norm_channel);
  for_each_channel(call.shape, [&](std::int64_t channel) { norm(call, channel); });
}
void batch_norm(const BatchNormForward<double>& call) {
  for_each_channel(call.shape,
                   [&](std::int64_t channel) { reference::batch_norm_channel(call, channel); });
}

void batch_norm_backward(const BatchNormBackward<float>& call) {
  const auto norm = HEED_DISPATCH(norm_backward_channel);
  for_each_channel(call.shape, [&](std::int64_t channel) { norm(call, channel); });
}
void batch_norm_backward(const BatchNormBackward<double>& call) {
  for_each_channel(call.shape, [&](std::int64_t channel) {
    reference::batch_norm_backward_channel(call, channel);
  });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/direct_conv.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/kernels/direct_conv.h"
#include "heed/kernels/direct_conv_pass.h"
#include "heed/kernels/reduce.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

std::int64_t float_lanes() { return static_cast<std::int64_t>(hn::Lanes(F32())); }

// Loops over registers are unrolled, else the compiler keeps them in memory.

// The sums of 4 channels x kVectors vectors of outputs, which begin at from[] in the padded planes.
template <std::int64_t kVectors>
HWY_INLINE void sum_outputs(const PictureConv& c, const float* weights, const float* const* from,
                            VF (&sums)[kTileChannels][kVectors]) {
  const F32 d;
  const std::int64_t depth = c.planes.depth();
  for (std::int64_t r = 0; r < depth; ++r) {
    const std::int64_t at = c.offsets[r];
    VF x[kVectors];
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) x[v] = hn::LoadU(d, from[v] + at);
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < kTileChannels; ++j) {
      const VF w = hn::Set(d, weights[r * kTileChannels + j]);
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < kVectors; ++v) sums[j][v] = hn::MulAdd(w, x[v], sums[j][v]);
    }
  }
}

// Vectors [first, first + kVectors) of the outputs, counted along the rows, for channels
// [channel, channel + 4).
template <std::int64_t kVectors>
void output_tile(const PictureConv& c, std::int64_t channel, std::int64_t first) {
  const F32 d;
  const std::int64_t lanes = float_lanes(), columns = c.planes.columns;
  const std::int64_t per_row = (columns + lanes - 1) / lanes;
  const float* from[kVectors];
  std::int64_t to[kVectors], left[kVectors];
  for (std::int64_t v = 0; v < kVectors; ++v) {
    const std::int64_t row = (first + v) / per_row, column = (first + v) % per_row * lanes;
    from[v] = c.padded + row * c.planes.width + column;
    to[v] = row * columns + column;
    left[v] = columns - column;
  }
  const std::int64_t channels = std::min(kTileChannels, c.out_channels - channel);
  VF sums[kTileChannels][kVectors];
#pragma GCC unroll 4
  for (std::int64_t j = 0; j < kTileChannels; ++j) {
    const bool biased = c.bias != nullptr && j < channels;
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      sums[j][v] = hn::Set(d, biased ? c.bias[channel + j] : 0.0f);
    }
  }
  sum_outputs<kVectors>(c, c.weights + channel * c.planes.depth(), from, sums);
  const std::int64_t plane = c.planes.rows * columns;
#pragma GCC unroll 4
  for (std::int64_t j = 0; j < kTileChannels; ++j) {
    if (j >= channels) break;
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      float* const y = c.y + (channel + j) * plane + to[v];
      if (left[v] >= lanes) {
        hn::StoreU(sums[j][v], d, y);
      } else {
        StoreFirst(sums[j][v], d, y, static_cast<std::size_t>(left[v]));
      }
    }
  }
}

void conv_picture(const PictureConv& c) {
  const std::int64_t lanes = float_lanes();
  const std::int64_t per_row = (c.planes.columns + lanes - 1) / lanes;
  const std::int64_t end = c.rows.end * per_row;
  for (std::int64_t channel = 0; channel < c.out_channels; channel += kTileChannels) {
    std::int64_t v = c.rows.begin * per_row;
    for (; v + kTileVectors <= end; v += kTileVectors) output_tile<kTileVectors>(c, channel, v);
    if (v + 2 == end) output_tile<2>(c, channel, v);
    if (v + 1 == end) output_tile<1>(c, channel, v);
  }
}

// The gradients of 4 channels x kWeights weights, those of rows [r, r + kWeights) of the depth.
template <std::int64_t kWeights>
HWY_INLINE void gradient_tile(const WeightGradient& g, std::int64_t channel, std::int64_t r) {
  const F32 d;
  const std::int64_t lanes = float_lanes(), plane = g.planes.rows * g.dy_width;
  // Channels that are missing repeat the last one, and are dropped.
  const std::int64_t channels = std::min(kTileChannels, g.out_channels - channel);
  VF sums[kTileChannels][kWeights];
#pragma GCC unroll 4
  for (std::int64_t j = 0; j < kTileChannels; ++j) {
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < kWeights; ++i) sums[j][i] = hn::Zero(d);
  }
  for (std::int64_t picture = 0; picture < g.pictures; ++picture) {
    const float* const x = g.padded + picture * g.planes.elements();
    const float* dy[kTileChannels];
    for (std::int64_t j = 0; j < kTileChannels; ++j) {
      dy[j] = g.dy + picture * g.dy_picture + (channel + std::min(j, channels - 1)) * plane;
    }
    const float* from[kWeights];
    for (std::int64_t i = 0; i < kWeights; ++i) from[i] = x + g.offsets[r + i];
    for (std::int64_t row = 0; row < g.planes.rows; ++row) {
      for (std::int64_t at = 0; at < g.dy_width; at += lanes) {
        VF in[kWeights];
#pragma GCC unroll 4
        for (std::int64_t i = 0; i < kWeights; ++i) in[i] = hn::LoadU(d, from[i] + at);
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < kTileChannels; ++j) {
          const VF out = hn::LoadU(d, dy[j] + at);
#pragma GCC unroll 4
          for (std::int64_t i = 0; i < kWeights; ++i)
            sums[j][i] = hn::MulAdd(out, in[i], sums[j][i]);
        }
      }
      for (const float*& p : from) p += g.planes.width;
      for (const float*& p : dy) p += g.dy_width;
    }
  }
#pragma GCC unroll 4
  for (std::int64_t j = 0; j < kTileChannels; ++j) {
    if (j >= channels) break;
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < kWeights; ++i) {
      g.dw[(channel + j) * g.planes.depth() + r + i] += hn::GetLane(hn::SumOfLanes(d, sums[j][i]));
    }
  }
}

void conv_weight_gradient(const WeightGradient& g) {
  const std::int64_t depth = g.planes.depth();
  for (std::int64_t channel = 0; channel < g.out_channels; channel += kTileChannels) {
    std::int64_t r = 0;
    for (; r + kTileVectors <= depth; r += kTileVectors) gradient_tile<kTileVectors>(g, channel, r);
    if (r + 2 == depth) gradient_tile<2>(g, channel, r);
    if (r + 1 == depth) gradient_tile<1>(g, channel, r);
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(float_lanes);
HWY_EXPORT(conv_picture);
HWY_EXPORT(conv_weight_gradient);

constexpr std::int64_t kCells = 16;              // smallest number of cells, if the shape allows
constexpr std::int64_t kLeastColumns = 6;        // narrower rows would leave most lanes empty
constexpr std::int64_t kPixels = 1024;           // enough to sum a tile of gradients for
constexpr std::int64_t kGroupFloats = 48 << 10;  // of pictures that stay in L2 for all tiles

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// A convolution of all pictures of a batch: [batch, groups * in.channels, …] ->
// [batch, groups * out, …].
struct BatchConv {
  Planes in;
  std::int64_t batch, groups, out;  // out: channels of a group
  const float* x;
  const float* weights;  // packed, of all groups
  const float* bias;     // [groups * out], or null
  float* y;

  std::int64_t packed_size() const {
    return ceil_div(out, kTileChannels) * kTileChannels * in.depth();
  }
  void run() const;
};

// A cell is a band of rows of one group of one picture.
void BatchConv::run() const {
  const auto picture = HEED_DISPATCH(conv_picture);
  const Offsets offsets(in);
  const std::int64_t parts = std::max<std::int64_t>(batch * groups, 1);
  const std::int64_t band = ceil_div(in.rows, ceil_div(kCells, parts));
  const std::int64_t bands = ceil_div(in.rows, band);
  const std::int64_t cost = out * in.depth() * band * in.columns;
  const std::int64_t inputs = in.window.inputs();
  parallel_for(batch * groups * bands, cost, [&](std::int64_t cell) {
    const std::int64_t part = cell / bands, group = part % groups, first = cell % bands * band;
    const Scratch<float> padded(in.elements());
    pad_planes(in, x + part * in.channels * inputs, padded.data());
    picture({.planes = in,
             .offsets = offsets.data(),
             .padded = padded.data(),
             .weights = weights + group * packed_size(),
             .bias = bias == nullptr ? nullptr : bias + group * out,
             .out_channels = out,
             .rows = {first, std::min(in.rows, first + band)},
             .y = y + part * out * in.rows * in.columns});
  });
}

// weights[o / 4][r][o % 4] = at(o, r), 0 where there is no channel o.
template <typename At>
void pack_weights(std::int64_t channels, std::int64_t depth, float* to, const At& at) {
  for (std::int64_t first = 0; first < channels; first += kTileChannels) {
    for (std::int64_t r = 0; r < depth; ++r) {
      for (std::int64_t o = first; o < first + kTileChannels; ++o) {
        *to++ = o < channels ? at(o, r) : 0.0f;
      }
    }
  }
}

// dy with rows of whole vectors: in place if they are, else a copy with zeros after each row.
class WholeRows {
 public:
  WholeRows(const Planes& planes, std::int64_t channels, std::int64_t pictures)
      : rows_(channels * planes.rows),
        columns_(planes.columns),
        width_(ceil_div(columns_, HEED_DISPATCH(float_lanes)()) * HEED_DISPATCH(float_lanes)()),
        copy_(width_ == columns_ ? 0 : pictures * rows_ * width_) {}

  std::int64_t width() const { return width_; }
  /// The rows of one group in `pictures` pictures, which lie `apart` from each other in dy.
  const float* of(const float* dy, std::int64_t pictures, std::int64_t apart) const {
    if (width_ == columns_) return dy;
    float* to = copy_.data();
    for (std::int64_t picture = 0; picture < pictures; ++picture) {
      for (std::int64_t row = 0; row < rows_; ++row, to += width_) {
        std::copy_n(dy + picture * apart + row * columns_, columns_, to);
        std::fill(to + columns_, to + width_, 0.0f);
      }
    }
    return copy_.data();
  }
  std::int64_t picture(std::int64_t apart) const {
    return width_ == columns_ ? apart : rows_ * width_;
  }

 private:
  std::int64_t rows_, columns_, width_;
  Scratch<float> copy_;
};

// The gradient of the weights of one group from some pictures, added to dw.
void add_pictures(const ConvShape& s, const Planes& planes, const std::int64_t* offsets,
                  std::int64_t group, Range pictures, const float* x, const float* dy, float* dw) {
  const auto gradient = HEED_DISPATCH(conv_weight_gradient);
  const std::int64_t at_once = std::clamp<std::int64_t>(
      std::min(ceil_div(kPixels, s.window.outputs()), kGroupFloats / planes.elements()), 1,
      pictures.end - pictures.begin);
  const Scratch<float> padded(at_once * planes.elements());
  const std::int64_t apart = s.out_channels * s.window.outputs();
  const WholeRows rows(planes, s.group_out(), at_once);
  for (std::int64_t first = pictures.begin; first < pictures.end; first += at_once) {
    const std::int64_t count = std::min(at_once, pictures.end - first);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t channel = (first + i) * s.in_channels + group * s.group_in();
      pad_planes(planes, x + channel * s.window.inputs(), padded.data() + i * planes.elements());
    }
    const float* const own = dy + first * apart + group * s.group_out() * s.window.outputs();
    gradient({.planes = planes,
              .offsets = offsets,
              .pictures = count,
              .padded = padded.data(),
              .dy = rows.of(own, count, apart),
              .dy_picture = rows.picture(apart),
              .dy_width = rows.width(),
              .out_channels = s.group_out(),
              .dw = dw});
  }
}

}  // namespace

bool is_direct(const ConvShape& s) {
  const SlidingAxis &rows = s.window.rows, &columns = s.window.columns;
  const auto plain = [](const SlidingAxis& axis) {
    return axis.stride == 1 && axis.padding < axis.reach();
  };
  return plain(rows) && plain(columns) && s.window.taps() > 1 && s.group_in() > 1 &&
         columns.outputs() >= kLeastColumns && columns.size >= kLeastColumns &&
         s.batch * s.groups * std::min(rows.outputs(), rows.size) >= kCells;
}

void direct_conv(const ConvShape& s, const float* x, const float* weight, const float* bias,
                 float* y) {
  const Window& w = s.window;
  BatchConv call{.in = planes_of(w, s.group_in(), w.rows.padding, w.columns.padding),
                 .batch = s.batch,
                 .groups = s.groups,
                 .out = s.group_out(),
                 .x = x,
                 .weights = nullptr,
                 .bias = bias,
                 .y = y};
  const std::int64_t depth = call.in.depth();
  const Scratch<float> packed(s.groups * call.packed_size());
  for (std::int64_t group = 0; group < s.groups; ++group) {
    const float* const own = weight + group * s.group_out() * depth;
    pack_weights(s.group_out(), depth, packed.data() + group * call.packed_size(),
                 [&](std::int64_t o, std::int64_t r) { return own[o * depth + r]; });
  }
  call.weights = packed.data();
  call.run();
}

// dx is a convolution of dy: the taps in reverse, the channels exchanged, and as much padding as
// makes outputs of the size of x.
void direct_conv_backward_input(const ConvShape& s, const float* weight, const float* dy,
                                float* dx) {
  Window w = s.window;
  w.rows.size = s.window.rows.outputs();
  w.columns.size = s.window.columns.outputs();
  BatchConv call{.in = planes_of(w, s.group_out(), w.rows.reach() - 1 - w.rows.padding,
                                 w.columns.reach() - 1 - w.columns.padding),
                 .batch = s.batch,
                 .groups = s.groups,
                 .out = s.group_in(),
                 .x = dy,
                 .weights = nullptr,
                 .bias = nullptr,
                 .y = dx};
  const std::int64_t taps = w.taps(), depth = s.group_in() * taps;
  const Scratch<float> packed(s.groups * call.packed_size());
  for (std::int64_t group = 0; group < s.groups; ++group) {
    const float* const own = weight + group * s.group_out() * depth;
    pack_weights(s.group_in(), call.in.depth(), packed.data() + group * call.packed_size(),
                 [&](std::int64_t c, std::int64_t r) {
                   return own[r / taps * depth + c * taps + taps - 1 - r % taps];
                 });
  }
  call.weights = packed.data();
  call.run();
}

// Pictures are split into chunks; each has its own sum, and the sums are added in order.
void direct_conv_backward_weight(const ConvShape& s, const float* x, const float* dy, float* dw) {
  const Window& w = s.window;
  const Planes planes = planes_of(w, s.group_in(), w.rows.padding, w.columns.padding);
  const Offsets offsets(planes);
  const std::int64_t group_size = s.group_out() * planes.depth(), size = s.groups * group_size;
  const std::int64_t per_chunk = ceil_div(s.batch, ceil_div(kCells, s.groups));
  const std::int64_t chunks = ceil_div(s.batch, per_chunk);
  const Scratch<float> partial(chunks > 1 ? chunks * size : 0);
  float* const sums = chunks > 1 ? partial.data() : dw;
  parallel_for(s.groups * chunks, per_chunk * group_size * w.outputs(), [&](std::int64_t cell) {
    const std::int64_t group = cell / chunks, chunk = cell % chunks;
    float* const to = sums + chunk * size + group * group_size;
    std::fill_n(to, group_size, 0.0f);
    add_pictures(s, planes, offsets.data(), group,
                 {chunk * per_chunk, std::min(s.batch, (chunk + 1) * per_chunk)}, x, dy, to);
  });
  if (chunks > 1) reduce(Reduce::sum, {1, chunks, size}, partial.data(), dw);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

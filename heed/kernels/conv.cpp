#include "heed/kernels/conv.h"

#include <algorithm>
#include <cstring>

#include "heed/base/arena.h"
#include "heed/base/flops.h"
#include "heed/base/threads.h"
#include "heed/kernels/depthwise.h"
#include "heed/kernels/direct_conv.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/reduce.h"
#include "heed/kernels/reference/conv.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kCells = 16;               // smallest number of cells, if the shape allows
constexpr std::int64_t kPatchElements = 1 << 16;  // of columns at a time: 256 KiB, to fit L2
constexpr std::int64_t kLeastPixels = 64;  // in a block, so that packing the other matrix pays off
constexpr std::int64_t kLeastRows = 64;
constexpr std::int64_t kPadding = 16;  // elements added to rows whose length is bad for the cache

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The number of units per block, so that `count` units make `blocks_wanted` blocks but no block is
// smaller than `least`.
std::int64_t block_size(std::int64_t count, std::int64_t blocks_wanted, std::int64_t least) {
  const std::int64_t size = ceil_div(count, std::max<std::int64_t>(blocks_wanted, 1));
  return std::clamp<std::int64_t>(std::max(size, least), 1, std::max<std::int64_t>(count, 1));
}

// A convolution split into blocks; the split depends only on its shape.
struct Plan {
  ConvShape shape;
  std::int64_t taps = 0, inputs = 0, outputs = 0;  // of the window
  std::int64_t depth = 0;                          // rows of the columns of a group
  std::int64_t pixels = 0;                         // outputs in a block
  std::int64_t pixel_blocks = 0;
  std::int64_t channels = 0;  // input channels in a block
  std::int64_t channel_blocks = 0;

  Range pixel_block(std::int64_t i) const {
    return {i * pixels, std::min(outputs, (i + 1) * pixels)};
  }
  Range channel_block(std::int64_t i) const {
    return {i * channels, std::min(shape.group_in(), (i + 1) * channels)};
  }
  /// The offset of the planes of one group of an image.
  std::int64_t input_at(std::int64_t image, std::int64_t group) const {
    return (image * shape.in_channels + group * shape.group_in()) * inputs;
  }
  std::int64_t output_at(std::int64_t image, std::int64_t group) const {
    return (image * shape.out_channels + group * shape.group_out()) * outputs;
  }
  std::int64_t weight_at(std::int64_t group) const { return group * shape.group_out() * depth; }
};

Plan plan(const ConvShape& s, std::int64_t channel_blocks_wanted) {
  Plan p{.shape = s,
         .taps = s.window.taps(),
         .inputs = s.window.inputs(),
         .outputs = s.window.outputs(),
         .depth = s.group_in() * s.window.taps()};
  const std::int64_t fitting =
      std::max(kPatchElements / std::max<std::int64_t>(p.depth, 1), kLeastPixels);
  const std::int64_t parts = std::max<std::int64_t>(s.batch * s.groups, 1);
  const std::int64_t blocks = std::max(ceil_div(p.outputs, fitting), ceil_div(kCells, parts));
  p.pixels = block_size(p.outputs, blocks, kLeastPixels);
  p.pixel_blocks = ceil_div(p.outputs, p.pixels);
  p.channels = block_size(s.group_in(), channel_blocks_wanted, ceil_div(kLeastRows, p.taps));
  p.channel_blocks = ceil_div(s.group_in(), p.channels);
  return p;
}

// The distance between rows of columns: not a multiple of 1 KiB, because such rows would fall into
// few cache sets.
std::int64_t leading(Range pixels) {
  const std::int64_t n = pixels.end - pixels.begin;
  return n % 256 == 0 ? n + kPadding : n;
}

std::int64_t patch_elements(const Plan& p, std::int64_t channels) {
  return p.shape.window.is_pointwise() ? 0 : channels * p.taps * (p.pixels + kPadding);
}

// columns[(c, tap), pixel] = the input of channel c under that tap for that output pixel; 0 for
// padding.
void gather_patches(const Window& w, const float* x, std::int64_t channels, Range pixels,
                    float* columns) {
  const bool may_pad = w.rows.padding > 0 || w.columns.padding > 0;
  const std::int64_t stride = w.columns.stride;
  const std::int64_t taps = w.taps();
  for (std::int64_t r = 0; r < channels * taps; ++r) {
    const float* const plane = x + r / taps * w.inputs();
    float* const row = columns + r * leading(pixels);
    if (may_pad) std::fill_n(row, pixels.end - pixels.begin, 0.0f);
    for_each_piece(w, r % taps, pixels, [&](std::int64_t out, std::int64_t in, std::int64_t n) {
      float* const to = row + (out - pixels.begin);
      if (stride == 1) {
        std::memcpy(to, plane + in, static_cast<std::size_t>(n) * sizeof(float));
      } else {
        for (std::int64_t i = 0; i < n; ++i) to[i] = plane[in + i * stride];
      }
    });
  }
}

// The reverse: adds every element of the columns to the input it came from.
void scatter_patches(const Window& w, const float* columns, std::int64_t channels, Range pixels,
                     float* dx) {
  const std::int64_t stride = w.columns.stride;
  const std::int64_t taps = w.taps();
  for (std::int64_t r = 0; r < channels * taps; ++r) {
    float* const plane = dx + r / taps * w.inputs();
    const float* const row = columns + r * leading(pixels);
    for_each_piece(w, r % taps, pixels, [&](std::int64_t out, std::int64_t in, std::int64_t n) {
      const float* const from = row + (out - pixels.begin);
      for (std::int64_t i = 0; i < n; ++i) plane[in + i * stride] += from[i];
    });
  }
}

// The columns of some channels and pixels: x itself for a pointwise kernel, else gathered into
// `buffer`.
Matrix<float> patches(const Window& w, const float* x, std::int64_t channels, Range pixels,
                      float* buffer) {
  if (w.is_pointwise()) return {x + pixels.begin, w.inputs(), 1};
  gather_patches(w, x, channels, pixels, buffer);
  return {buffer, leading(pixels), 1};
}

// A part of the work on dw: some input channels of a group, and some (image, block of pixels).
struct WeightPart {
  std::int64_t group;
  Range channels;
  Range items;
};

void weight_part(const Plan& p, const WeightPart& part, const float* x, const float* dy,
                 float* dw) {
  const ConvShape& s = p.shape;
  const std::int64_t channels = part.channels.end - part.channels.begin;
  const Scratch<float> buffer(patch_elements(p, channels));
  float* const out = dw + p.weight_at(part.group) + part.channels.begin * p.taps;
  for (std::int64_t item = part.items.begin; item < part.items.end; ++item) {
    const std::int64_t image = item / p.pixel_blocks;
    const Range pixels = p.pixel_block(item % p.pixel_blocks);
    const Matrix<float> columns =
        patches(s.window, x + p.input_at(image, part.group) + part.channels.begin * p.inputs,
                channels, pixels, buffer.data());
    gemm_serial({s.group_out(), channels * p.taps, pixels.end - pixels.begin},
                {dy + p.output_at(image, part.group) + pixels.begin, p.outputs, 1},
                {columns.data, 1, columns.row_stride}, item == part.items.begin ? 0.0f : 1.0f, out,
                p.depth);
  }
}

// Counts the operations of the convolution or of either gradient; products with padding count too.
void add_flops_of(const ConvShape& s) {
  const std::int64_t depth = s.group_in() * s.window.taps();
  add_flops(2 * s.batch * s.out_channels * s.window.outputs() * depth);
}

}  // namespace

void conv(const ConvShape& s, const float* x, const float* weight, const float* bias, float* y) {
  add_flops_of(s);
  if (s.group_in() == 1) return depthwise(s, x, weight, bias, y);
  if (is_direct(s)) return direct_conv(s, x, weight, bias, y);
  const Plan p = plan(s, 1);
  const std::int64_t cost = s.group_out() * p.depth * p.pixels;
  parallel_for(s.batch * s.groups * p.pixel_blocks, cost, [&](std::int64_t cell) {
    const Range pixels = p.pixel_block(cell % p.pixel_blocks);
    const std::int64_t group = cell / p.pixel_blocks % s.groups;
    const std::int64_t image = cell / p.pixel_blocks / s.groups;
    const std::int64_t n = pixels.end - pixels.begin;
    float* const out = y + p.output_at(image, group) + pixels.begin;
    for (std::int64_t o = 0; o < s.group_out() && bias != nullptr; ++o) {
      std::fill_n(out + o * p.outputs, n, bias[group * s.group_out() + o]);
    }
    const Scratch<float> buffer(patch_elements(p, s.group_in()));
    gemm_serial(
        {s.group_out(), n, p.depth}, {weight + p.weight_at(group), p.depth, 1},
        patches(s.window, x + p.input_at(image, group), s.group_in(), pixels, buffer.data()),
        bias != nullptr ? 1.0f : 0.0f, out, p.outputs);
  });
}

void conv_backward_input(const ConvShape& s, const float* weight, const float* dy, float* dx) {
  add_flops_of(s);
  if (s.group_in() == 1) return depthwise_backward_input(s, weight, dy, dx);
  if (is_direct(s)) return direct_conv_backward_input(s, weight, dy, dx);
  const Plan p = plan(s, ceil_div(kCells, std::max<std::int64_t>(s.batch * s.groups, 1)));
  const bool direct = s.window.is_pointwise();
  const std::int64_t cost = s.group_out() * p.channels * p.taps * p.outputs;
  // A cell owns some channels of an image, so overlapping windows are added by one cell only.
  parallel_for(s.batch * s.groups * p.channel_blocks, cost, [&](std::int64_t cell) {
    const Range block = p.channel_block(cell % p.channel_blocks);
    const std::int64_t channels = block.end - block.begin;
    const std::int64_t group = cell / p.channel_blocks % s.groups;
    const std::int64_t image = cell / p.channel_blocks / s.groups;
    float* const planes = dx + p.input_at(image, group) + block.begin * p.inputs;
    if (!direct) std::fill_n(planes, channels * p.inputs, 0.0f);
    const Scratch<float> buffer(patch_elements(p, channels));
    for (std::int64_t i = 0; i < p.pixel_blocks; ++i) {
      const Range pixels = p.pixel_block(i);
      gemm_serial({channels * p.taps, pixels.end - pixels.begin, s.group_out()},
                  {weight + p.weight_at(group) + block.begin * p.taps, 1, p.depth},
                  {dy + p.output_at(image, group) + pixels.begin, p.outputs, 1}, 0.0f,
                  direct ? planes + pixels.begin : buffer.data(),
                  direct ? p.inputs : leading(pixels));
      if (!direct) scatter_patches(s.window, buffer.data(), channels, pixels, planes);
    }
  });
}

void conv_backward_weight(const ConvShape& s, const float* x, const float* dy, float* dw) {
  add_flops_of(s);
  if (s.group_in() == 1) return depthwise_backward_weight(s, x, dy, dw);
  if (is_direct(s)) return direct_conv_backward_weight(s, x, dy, dw);
  const Plan p = plan(s, ceil_div(kCells, s.groups));
  const std::int64_t size = s.out_channels * p.depth;
  const std::int64_t items = s.batch * p.pixel_blocks;
  if (items == 0) {
    std::fill_n(dw, size, 0.0f);
    return;
  }
  // Few input channels give few cells. Then the images are split into chunks too; each chunk has
  // its own sum, and the sums are added in order.
  const std::int64_t columns = std::max<std::int64_t>(s.groups * p.channel_blocks, 1);
  const std::int64_t per_chunk = block_size(items, ceil_div(kCells, columns), 1);
  const std::int64_t chunks = ceil_div(items, per_chunk);
  const Scratch<float> partial(chunks > 1 ? chunks * size : 0);
  const std::int64_t cost = s.group_out() * p.channels * p.taps * per_chunk * p.pixels;
  parallel_for(s.groups * p.channel_blocks * chunks, cost, [&](std::int64_t cell) {
    const std::int64_t chunk = cell % chunks;
    const std::int64_t rest = cell / chunks;
    const WeightPart part{rest / p.channel_blocks,
                          p.channel_block(rest % p.channel_blocks),
                          {chunk * per_chunk, std::min(items, (chunk + 1) * per_chunk)}};
    weight_part(p, part, x, dy, chunks > 1 ? partial.data() + chunk * size : dw);
  });
  if (chunks > 1) reduce(Reduce::sum, {1, chunks, size}, partial.data(), dw);
}

void conv(const ConvShape& s, const double* x, const double* weight, const double* bias,
          double* y) {
  add_flops_of(s);
  reference::conv(s, x, weight, bias, y);
}

void conv_backward_input(const ConvShape& s, const double* weight, const double* dy, double* dx) {
  add_flops_of(s);
  reference::conv_backward_input(s, weight, dy, dx);
}

void conv_backward_weight(const ConvShape& s, const double* x, const double* dy, double* dw) {
  add_flops_of(s);
  reference::conv_backward_weight(s, x, dy, dw);
}

}  // namespace heed::kernels

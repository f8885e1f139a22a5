#include "heed/nn/packed_weight.h"

#include <algorithm>
#include <cstring>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/dequantize.h"
#include "heed/kernels/packed/product.h"
#include "heed/kernels/packed/remainder.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/large_pages.h"
#include "heed/tensor/memory_limit.h"
#include "heed/tensor/storage.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// Rows that are read from a file at once: whole panels of about 2 MB of f32.
std::int64_t rows_at_once(std::int64_t in) {
  constexpr std::int64_t kNumbers = 1 << 19;
  const std::int64_t panels = kNumbers / std::max<std::int64_t>(1, in * kernels::kPanelRows);
  return kernels::kPanelRows * std::max<std::int64_t>(1, panels);
}

// Of types with more than 5 bits whose blocks have another form.
constexpr BlockForm kBytes{.bits = 8, .scales = kernels::BlockScales::centred};

std::span<const std::byte> bytes_of_rows(const StoredMatrix& matrix, std::int64_t begin,
                                         std::int64_t end) {
  const auto one = matrix.bytes.size() / static_cast<std::size_t>(matrix.out);
  return matrix.bytes.subspan(static_cast<std::size_t>(begin) * one,
                              static_cast<std::size_t>(end - begin) * one);
}

// Uninitialised, as empty() makes it.
Tensor empty_in_large_pages(const Shape& shape, DType dtype) {
  const auto bytes = static_cast<std::size_t>(numel(shape)) * size_of(dtype);
  MemoryLimit::count(bytes);
  std::shared_ptr<std::byte> block = large_page_block(bytes);
  std::byte* const data = block.get();
  return Tensor(Storage::lend(data, bytes, std::move(block)), dtype, shape, row_major(shape), 0);
}

void widen(io::TensorType type, std::span<const std::byte> from, std::span<float> to) {
  if (type == io::TensorType::F32) {
    std::memcpy(to.data(), from.data(), from.size());
  } else {
    kernels::dequantize(type, from, to);
  }
}

// Some rows of blocks of a GGUF file.
void pack_as_it_is(const StoredMatrix& matrix, std::span<const std::byte> rows,
                   const kernels::PackTarget& to) {
  const std::size_t one = rows.size() / static_cast<std::size_t>(to.out);
  kernels::pack_blocks(
      [&](std::int64_t row, kernels::BlockRow& blocks) {
        kernels::read_block_row(matrix.type, rows.data() + static_cast<std::size_t>(row) * one,
                                to.in, blocks);
      },
      to);
}

}  // namespace

PackedWeight::PackedWeight(const Tensor& matrix, PackedForm form, PackOptions how) {
  HEED_CHECK(matrix.rank() == 2 && is_floating(matrix.dtype()) && matrix.dtype() != DType::f64,
             "[packed_weight] {} of {}: give a matrix [out, in] of f32 or bf16",
             to_string(matrix.shape()), name_of(matrix.dtype()));
  allocate(form, matrix.size(0), matrix.size(1), how);
  if (form == PackedForm::bf16 && matrix.dtype() == DType::bf16) {
    const Tensor from = contiguous_copy(matrix);  // [out, in]
    kernels::pack_bf16(from.data<BFloat16>(), target_);
  } else {
    const Tensor from = contiguous_copy(cast_data(matrix, DType::f32));  // [out, in]
    pack_rows(from.data<float>(), 0, out());
  }
}

PackedWeight::PackedWeight(const StoredMatrix& matrix, PackedForm form, PackOptions how) {
  const std::optional<BlockForm> blocks = kernels::block_form(matrix.type);
  const bool is_quantized = io::info(matrix.type).block > 1;
  if (blocks || is_quantized) how.blocks = blocks.value_or(kBytes);
  allocate(form, matrix.out, matrix.in, how);
  const std::int64_t rows = rows_at_once(matrix.in);
  const bool is_exact = form == PackedForm::int4 && blocks;
  const Scratch<float> floats(is_exact ? 0 : std::min(rows, matrix.out) * matrix.in);
  for (std::int64_t begin = 0; begin < matrix.out; begin += rows) {
    const std::int64_t end = std::min(begin + rows, matrix.out);
    const std::span<const std::byte> bytes = bytes_of_rows(matrix, begin, end);
    if (is_exact) {
      pack_as_it_is(matrix, bytes, rows_of(target_, begin, end));
    } else {
      widen(matrix.type, bytes, {floats.data(), static_cast<std::size_t>((end - begin) * in())});
      pack_rows(floats.data(), begin, end);
    }
    if (matrix.file != nullptr) matrix.file->forget(bytes);
  }
}

PackedWeight::PackedWeight(const QuantizedMatrix& matrix) {
  allocate(PackedForm::int8, matrix.out, matrix.in);
  kernels::pack_int8(matrix.integers, matrix.scales, target_);
}

PackedWeight::PackedWeight(const BlockMatrix& matrix) {
  allocate(PackedForm::int4, matrix.out, matrix.in, {.blocks = matrix.blocks});
  kernels::pack_blocks(matrix.read, target_);
}

void PackedWeight::allocate(PackedForm form, std::int64_t out, std::int64_t in, PackOptions how) {
  const BlockForm blocks = how.blocks;
  const std::int64_t padded = kernels::padded_out(out), panels = padded / kernels::kPanelRows;
  data_ = empty_in_large_pages({panels * kernels::panel_bytes(form, in, blocks)}, DType::u8);
  const auto bytes_of = [](Tensor& x) {
    return reinterpret_cast<std::byte*>(x.mutable_data<std::uint8_t>());
  };
  target_ = {.form = form,
             .out = out,
             .in = in,
             .data = bytes_of(data_),
             .scales = nullptr,
             .sums = nullptr,
             .blocks = blocks};
  if (form == PackedForm::int8) {
    const Shape shape{padded * kernels::scale_groups(in)};
    scales_ = empty_in_large_pages(shape, DType::f32);
    sums_ = empty_in_large_pages(shape, DType::i32);
    target_.scales = scales_.mutable_data<float>();
    target_.sums = sums_.mutable_data<std::int32_t>();
    const Unpooled unpooled;  // few of its rows are read in a step
    if (how.refined) remainders_ = empty({out, in}, DType::u8);
  }
  if (form == PackedForm::int4) {
    scales_ = empty_in_large_pages({panels * kernels::block_scale_bytes(blocks, in)}, DType::u8);
    target_.block_scales = bytes_of(scales_);
  }
}

void PackedWeight::pack_rows(const float* rows, std::int64_t begin, std::int64_t end) {
  const kernels::PackTarget to = rows_of(target_, begin, end);
  kernels::pack(rows, in(), to);
  if (!remainders_.defined()) return;
  kernels::find_remainders(rows, in(), to, mutable_remainders() + begin * in());
}

std::int8_t* PackedWeight::mutable_remainders() {
  return reinterpret_cast<std::int8_t*>(remainders_.mutable_data<std::uint8_t>());
}

void PackedWeight::keep_remainders(std::span<const std::int8_t> remainders) {
  HEED_ASSERT(form() == PackedForm::int8 && std::ssize(remainders) == out() * in());
  remainders_ = empty({out(), in()}, DType::u8);
  std::ranges::copy(remainders, mutable_remainders());
}

std::span<const std::int8_t> PackedWeight::remainders() const {
  if (!remainders_.defined()) return {};
  return {reinterpret_cast<const std::int8_t*>(remainders_.data<std::uint8_t>()),
          static_cast<std::size_t>(remainders_.numel())};
}

std::int64_t PackedWeight::bytes() const {
  const std::int64_t scale = form() == PackedForm::int8 ? 8 : 1;  // with the sum of int8
  return data_.numel() + (scales_.defined() ? scale * scales_.numel() : 0) +
         (remainders_.defined() ? remainders_.numel() : 0);
}

Tensor PackedWeight::product(const Tensor& x, const LinearOptions& options, std::int64_t begin,
                             std::int64_t end) const {
  HEED_CHECK(x.rank() >= 1 && x.size(-1) == in() && x.dtype() == DType::f32,
             "[linear] x {} of {} and a packed weight [{}, {}]: the last size of x must be {}, and "
             "its type f32",
             to_string(x.shape()), name_of(x.dtype()), out(), in(), in());
  HEED_CHECK(!options.bias.defined() || options.bias.shape() == Shape{end - begin},
             "[linear] bias {}: it must be [{}]", to_string(options.bias.shape()), end - begin);
  if (const std::int64_t before = begin % kernels::kPanelRows; before > 0) {
    const Tensor all = product(x, {}, begin - before, end);  // with the other rows of the panel
    const Tensor y = view::slice(all, -1, before, all.size(-1));
    const Tensor sum = options.bias.defined() ? y + options.bias : y;
    return options.activation ? unary(*options.activation, sum) : sum;  // […, end - begin]
  }
  const Tensor rows = view::reshape(contiguous_copy(x), {-1, in()});  // [N, in]
  const Tensor bias = options.bias.defined() ? contiguous_copy(options.bias) : Tensor();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = end - begin;
  Tensor y = empty(shape);  // […, end - begin]
  kernels::packed_product({.rows = rows.size(0),
                           .x = rows.data<float>(),
                           .x_stride = in(),
                           .weight = rows_of(kernels::PackedMatrix(target_), begin, end),
                           .y = y.mutable_data<float>(),
                           .y_stride = end - begin,
                           .bias = bias.defined() ? bias.data<float>() : nullptr,
                           .activation = options.activation});
  return y;
}

kernels::PackedProduct PackedWeight::call_with(const Tensor& x, const Tensor& bias) const {
  HEED_CHECK(x.rank() == 2 && x.size(1) == in() && x.dtype() == DType::f32,
             "[linear] x {} and a packed weight [{}, {}]: it must be [rows, {}]",
             to_string(x.shape()), out(), in(), in());
  return {.rows = x.size(0),
          .x = x.data<float>(),
          .x_stride = in(),
          .weight = target_,
          .y = nullptr,
          .y_stride = 0,
          .bias = bias.defined() ? bias.data<float>() : nullptr};
}

PackedWeight PackedWeight::select(std::span<const std::int32_t> rows) const {
  if (form() == PackedForm::int4) {
    return PackedWeight(this->rows(from_values(rows, {std::ssize(rows)})), PackedForm::f32);
  }
  PackedWeight chosen;
  chosen.allocate(form(), std::ssize(rows), in(), {.refined = remainders_.defined()});
  kernels::copy_rows(target_, rows, chosen.target_);
  if (!remainders_.defined()) return chosen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(remainders().subspan(static_cast<std::size_t>(rows[i] * in()),
                                           static_cast<std::size_t>(in())),
                      chosen.mutable_remainders() + static_cast<std::int64_t>(i) * in());
  }
  return chosen;
}

Tensor PackedWeight::rows(const Tensor& ids) const {
  check_index("embedding", "the vocabulary", ids, out());
  const Tensor numbers = contiguous_copy(ids);
  Shape shape = ids.shape();
  shape.push_back(in());
  Tensor y = empty(shape);  // […, in]
  visit_index("embedding", ids.dtype(), [&](auto zero) {
    using Index = decltype(zero);
    const Index* const from = numbers.data<Index>();
    float* const to = y.mutable_data<float>();
    parallel_for(ids.numel(), in(), [&](std::int64_t i) {
      kernels::unpack_row(target_, static_cast<std::int64_t>(from[i]), to + i * in());
    });
  });
  return y;
}

Tensor PackedWeight::matrix() const {
  Tensor all = empty({out(), in()});
  float* const to = all.mutable_data<float>();
  parallel_for(out(), in(),
               [&](std::int64_t row) { kernels::unpack_row(target_, row, to + row * in()); });
  return all;
}

std::vector<std::int8_t> PackedWeight::integers() const {
  HEED_ASSERT(form() == PackedForm::int8);
  std::vector<std::int8_t> all(static_cast<std::size_t>(out() * in()));
  parallel_for(out(), in(), [&](std::int64_t row) {
    kernels::unpack_row(target_, row, all.data() + row * in());
  });
  return all;
}

std::vector<float> PackedWeight::scales() const {
  HEED_ASSERT(form() == PackedForm::int8);
  const std::int64_t groups = kernels::scale_groups(in());
  std::vector<float> all(static_cast<std::size_t>(out() * groups));
  for (std::int64_t row = 0; row < out(); ++row) {
    kernels::unpack_scales(target_, row, all.data() + row * groups);
  }
  return all;
}

}  // namespace heed

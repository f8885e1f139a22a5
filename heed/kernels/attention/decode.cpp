#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/decode.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cmath>
#include <span>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention/decode.h"
#include "heed/kernels/attention/decode_grid.h"
#include "heed/kernels/attention/decode_part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

void decode_part_f32(const AttentionProgram<float>& program, const DecodeCall<float>& call,
                     const DecodeCell& at, const DecodePartial& to) {
  DecodePart<float>(program, call, at, to).run();
}
void decode_part_bf16(const AttentionProgram<float>& program, const DecodeCall<BFloat16>& call,
                      const DecodeCell& at, const DecodePartial& to) {
  DecodePart<BFloat16>(program, call, at, to).run();
}

// The parts of one row that have a nonzero weight.
class RowParts {
 public:
  RowParts(const AttentionProgram<float>& program, std::int64_t most)
      : unit_(program), outputs_(most), numbers_(most), references_(most), factors_(2 * most) {}

  void clear() { count_ = 0; }
  void add(const DecodePartial& part, std::int64_t number, std::int64_t row, std::int64_t Dv) {
    if (part.sums[row] == 0.0f) return;
    outputs_[count_] = part.output + row * Dv;
    numbers_[count_] = number;
    references_[count_] = {part.base[row], part.top[row]};
    sums()[count_++] = part.sums[row];
  }

  // Turns the references into the factors of the parts in the output, including a sink if there is
  // one; returns the log-sum-exp.
  float normalise(const float* sink) {
    RowReference<float> rest;
    if (sink != nullptr && *sink != kHidden)
      rest = RowReference<float>::at(*sink * unit_.from_score, unit_.log2);
    RowReference<float> top = rest;
    for (std::int64_t p = 0; p < count_; ++p) {
      if (higher(references_[p], top)) top = references_[p];
    }
    float total = factor(rest, top);
    for (std::int64_t p = 0; p < count_; ++p) {
      factors_[p] = factor(references_[p], top);
      total += factors_[p] * sums()[p];
    }
    if (total == 0.0f) return kHidden;
    for (std::int64_t p = 0; p < count_; ++p) factors_[p] /= total;
    return top.base * unit_.to_score + (top.log2 * kLn2Of<float> + std::log(total));
  }
  void weigh_equally() { std::fill_n(factors_.data(), count_, 1.0f); }

  // Passes the factor of each part to the stages.
  void close(std::span<TileStage<float>* const> stages, RowPart at, std::int64_t keys) const {
    if (stages.empty()) return;
    for (std::int64_t p = 0; p < count_; ++p) {
      at.col = numbers_[p] * kPartKeys;
      at.cols = std::min(kPartKeys, keys - at.col);
      for (const TileStage<float>* stage : stages) stage->close_part(at, factors_[p]);
    }
  }

  // to = sum over parts of factor * output.
  void merge(std::int64_t n, float* to) const {
    map_row(n, [this, to](auto part, std::int64_t i) HWY_ATTR {
      const F32 d;
      VF sum = hn::Zero(d);
      for (std::int64_t p = 0; p < count_; ++p) {
        sum = hn::MulAdd(part.load(outputs_[p] + i), hn::Set(d, factors_[p]), sum);
      }
      part.store(sum, to + i);
    });
  }

 private:
  bool higher(const RowReference<float>& a, const RowReference<float>& b) const {
    return a.log2 != kHidden && (b.log2 == kHidden || a.log2_over(b, unit_.log2) > 0.0f);
  }
  // The quotient of two references; 0 if the first has no key.
  float factor(const RowReference<float>& of, const RowReference<float>& to) const {
    return of.log2 == kHidden ? 0.0f : std::exp2(of.log2_over(to, unit_.log2));
  }

  float* sums() const { return factors_.data() + factors_.size() / 2; }
  TileUnit<float> unit_;
  Scratch<const float*> outputs_;
  Scratch<std::int64_t> numbers_;
  Scratch<RowReference<float>> references_;
  Scratch<float> factors_;  // and the sums
  std::int64_t count_ = 0;
};

// Computes the rows of a block of queries from its parts.
void merge_block(const AttentionProgram<float>& program, const DecodeResult& result,
                 const DecodeGrid& grid, float* partials, std::int64_t block) {
  const std::int64_t cell = block * grid.parts();
  const DecodeCell at = grid.at(cell);
  const AttentionShape& shape = program.shape;
  RowParts parts(program, grid.parts());
  for (std::int64_t r = 0; r < shape.group() * at.queries; ++r) {
    const std::int64_t head = at.kv_head * shape.group() + r / at.queries;
    const std::int64_t row = at.row + r % at.queries;
    parts.clear();
    for (std::int64_t p = 0; p < grid.parts(); ++p) {
      parts.add(grid.partial(partials, cell + p), p, r, shape.Dv);
    }
    if (program.normaliser == Normalise::softmax) {
      const float log = parts.normalise(program.sinks == nullptr ? nullptr : program.sinks + head);
      if (result.log_sum_exp.data != nullptr) {
        *result.log_sum_exp.at(at.batch, head, row) = log;
      }
      parts.close(program.reweights, {at.batch, head, row}, shape.keys(at.batch));
    } else {
      parts.weigh_equally();
    }
    parts.merge(shape.Dv, result.output.at(at.batch, head, row));
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(decode_part_f32);
HWY_EXPORT(decode_part_bf16);
HWY_EXPORT(merge_block);

template <typename T, typename Part>
void decode(const AttentionProgram<float>& program, const DecodeCall<T>& call, Part part) {
  HEED_ASSERT(can_decode(program));
  const DecodeGrid grid(program.shape);
  const Scratch<float> partials(grid.cells() * grid.partial_size());
  const std::int64_t width = program.shape.D + program.shape.Dv;
  const std::int64_t keys = std::min(program.shape.Tk, kPartKeys);
  parallel_for(grid.cells(), (grid.rows() + 1) * keys * width, [&](std::int64_t cell) {
    part(program, call, grid.at(cell), grid.partial(partials.data(), cell));
  });
  const auto merge = HEED_DISPATCH(merge_block);
  const DecodeResult result{call.output, call.log_sum_exp};
  parallel_for(grid.blocks(), grid.rows() * grid.parts() * program.shape.Dv,
               [&](std::int64_t block) { merge(program, result, grid, partials.data(), block); });
}

}  // namespace

void attention_decode(const AttentionProgram<float>& program, const DecodeCall<float>& call) {
  decode(program, call, HEED_DISPATCH(decode_part_f32));
}
void attention_decode(const AttentionProgram<float>& program, const DecodeCall<BFloat16>& call) {
  decode(program, call, HEED_DISPATCH(decode_part_bf16));
}

// Tiles use a whole vector for the queries of one head, however few, and read keys again for each
// head of a group. Here each row costs the same, a little more than in a full vector.
bool decode_is_better(const AttentionShape& shape) {
  constexpr std::int64_t kFew = 8;
  if (shape.q_starts == nullptr) return shape.Tq <= kFew;
  for (std::int64_t b = 0; b < shape.B; ++b) {
    if (shape.queries(b) > kFew) return false;
  }
  return true;
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

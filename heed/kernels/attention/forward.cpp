#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/forward.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/kernels/attention/forward.h"
#include "heed/kernels/attention/forward_block-inl.h"
#include "heed/kernels/attention/grid.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/kernels/reference/attention.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

std::int64_t block_rows_f32() { return kBlockRowsOf<float>; }
std::int64_t block_rows_f64() { return kBlockRowsOf<double>; }

void block_f32(const ForwardPass<float>& pass, const BlockAt& at) {
  ForwardBlock<float>(pass, at).run();
}
void block_f64(const ForwardPass<double>& pass, const BlockAt& at) {
  ForwardBlock<double>(pass, at).run();
}

// Never called where pairs are not compiled (pairs_useful).
#if HWY_TARGET == HWY_AVX3
void block_bf16(const ForwardPass<float>& pass, const BlockAt& at) {
  ForwardBlock<float, PairProducts>(pass, at).run();
}
void pair_head(const AttentionShape& shape, const AttentionForward<float>& call, std::int64_t batch,
               std::int64_t head, Bf16Pair* keys, Bf16Pair* values) {
  pair_keys({call.k.at(batch, head), call.k.row}, shape.Tk, shape.D, keys);
  pair_values({call.v.at(batch, head), call.v.row}, shape.Tk, shape.Dv, values);
}
#else
void block_bf16(const ForwardPass<float>& pass, const BlockAt& at) { block_f32(pass, at); }
void pair_head(const AttentionShape&, const AttentionForward<float>&, std::int64_t, std::int64_t,
               Bf16Pair*, Bf16Pair*) {}
#endif

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(block_rows_f32);
HWY_EXPORT(block_rows_f64);
HWY_EXPORT(block_f32);
HWY_EXPORT(block_f64);
HWY_EXPORT(block_bf16);
HWY_EXPORT(pair_head);

template <typename T, typename Run>
void run_blocks(const AttentionProgram<T>& program, const AttentionForward<T>& call,
                std::int64_t block_rows, Run run, const PairedOperands& pairs = {}) {
  const ForwardPass<T> pass{program,
                            call,
                            {program.modifiers, block_rows, false},
                            {program.reweights, block_rows, false},
                            pairs};
  const BlockGrid grid(program.shape, block_rows);
  const AttentionShape& s = program.shape;
  parallel_for(grid.cells(), block_rows * s.Tk * (s.D + s.Dv),
               [&](std::int64_t cell) { run(pass, grid.at(cell)); });
}

// Pairs are made once for each head of keys, which takes as long as a few queries. Rows whose
// scales are wanted are for a backward pass, which computes in floats.
bool pairs_useful(const AttentionProgram<float>& program, const AttentionForward<float>& call) {
  const AttentionShape& s = program.shape;
  constexpr std::int64_t kQueries = 64;
  return program.bf16 && has_bf16_dot() && program.normaliser == Normalise::softmax &&
         program.modifiers.empty() && program.additive == nullptr && program.scale > 0 &&
         s.q_starts == nullptr && s.D % 2 == 0 && s.Tq * s.group() >= kQueries &&
         call.scales.data == nullptr;
}

void run_in_bf16(const AttentionProgram<float>& program, const AttentionForward<float>& call) {
  const AttentionShape& s = program.shape;
  const std::int64_t keys = s.Tk * (s.D / 2), values = (s.Tk + 1) / 2 * s.Dv;
  const Scratch<Bf16Pair> memory(s.B * s.G * (keys + values));
  Bf16Pair* const first_value = memory.data() + s.B * s.G * keys;
  const auto pair = HEED_DISPATCH(pair_head);
  parallel_for(s.B * s.G, keys + values, [&](std::int64_t i) {
    pair(s, call, i / s.G, i % s.G, memory.data() + i * keys, first_value + i * values);
  });
  run_blocks(program, call, HEED_DISPATCH(block_rows_f32)(), HEED_DISPATCH(block_bf16),
             {memory.data(), first_value});
}

}  // namespace

void attention_forward(const AttentionProgram<float>& program,
                       const AttentionForward<float>& call) {
  if (pairs_useful(program, call)) return run_in_bf16(program, call);
  run_blocks(program, call, HEED_DISPATCH(block_rows_f32)(), HEED_DISPATCH(block_f32));
}
void attention_forward(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call) {
  if (reference::PlainAttention::wanted()) return reference::attention_forward(program, call);
  run_blocks(program, call, HEED_DISPATCH(block_rows_f64)(), HEED_DISPATCH(block_f64));
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

// Attention in two ways: as a differentiable call with stages, and on raw memory without tensors or
// tape, as for the buffers of another program. Both must agree.
#include <fmt/format.h>
#include <heed/heed.h>
#include <heed/kernels/attention/forward.h>

#include <cmath>
#include <memory>
#include <vector>

namespace {

constexpr std::int64_t B = 2, H = 4, T = 150, D = 32;

// Sequences stored as [position][head][feature], the usual layout, are read in place.
std::vector<float> raw_attention(const std::vector<float>& q, const std::vector<float>& k,
                                 const std::vector<float>& v, const heed::Mask& mask) {
  using namespace heed::kernels;
  const auto rows = [](auto* data) { return Heads{data, T * H * D, D, H * D}; };
  AttentionProgram<float> program;
  program.shape = {.B = B, .H = H, .G = H, .Tq = T, .Tk = T, .D = D, .Dv = D};
  program.scale = 1.0f / std::sqrt(static_cast<float>(D));
  const std::unique_ptr<Visibility> visibility = mask.bind(program.shape);
  program.mask = visibility.get();
  std::vector<float> output(q.size());
  AttentionForward<float> call;
  call.q = rows(q.data());
  call.k = rows(k.data());
  call.v = rows(v.data());
  call.output = rows(output.data());
  attention_forward(program, call);
  return output;
}

}  // namespace

int main() {
  using namespace heed;
  const Tensor q = randn({B, T, H, D}), k = randn({B, T, H, D}), v = randn({B, T, H, D});
  const Mask mask = causal() & key_lengths({150, 90});

  // [B, T, H, D] in memory, viewed as [B, H, T, D] without a copy.
  const auto heads = [](const Tensor& x) { return transpose(x, 1, 2); };
  const Tensor y = attention(heads(q), heads(k), heads(v), {.mask = mask});
  const std::vector<float> raw =
      raw_attention(q.to_vector<float>(), k.to_vector<float>(), v.to_vector<float>(), mask);
  const bool equal = contiguous(heads(y)).to_vector<float>() == raw;
  fmt::print("tensors and raw memory give the same bits: {}\n", equal);

  // Learned slopes of ALiBi, a soft cap, and the gradient through both.
  Tensor slopes = alibi_slopes(H).requires_grad();
  sum(square(attention(heads(q), heads(k), heads(v),
                       {.modifiers = {alibi(slopes), soft_cap(20.0)}, .mask = mask})))
      .backward();
  const std::vector<float> d = slopes.grad().to_vector<float>();
  fmt::print("gradient of the slopes: {:.3f} {:.3f} {:.3f} {:.3f}\n", d[0], d[1], d[2], d[3]);
  return equal ? 0 : 1;
}

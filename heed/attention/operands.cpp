#include "heed/attention/operands.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

void check_dtypes(const Tensor& q, const Tensor& k, const Tensor& v) {
  HEED_CHECK(q.defined() && k.defined() && v.defined(), "[attention] {} is an undefined tensor",
             !q.defined()   ? "q"
             : !k.defined() ? "k"
                            : "v");
  HEED_CHECK(is_floating(q.dtype()),
             "[attention] q is {}: attention computes in f32, f64 or bf16; use cast(x, DType::f32)",
             name_of(q.dtype()));
  HEED_CHECK(k.dtype() == q.dtype() && v.dtype() == q.dtype(),
             "[attention] q is {}, k {}, v {}: all three must have one dtype", name_of(q.dtype()),
             name_of(k.dtype()), name_of(v.dtype()));
}

void check_rank(const char* what, const Tensor& x, int rank, const char* form) {
  HEED_CHECK(x.rank() == rank, "[attention] {} {}: it must be {}", what, to_string(x.shape()),
             form);
}

// Checks heads, which are on the given axis, and features.
void check_heads(const Tensor& q, const Tensor& k, const Tensor& v, int heads) {
  HEED_CHECK(k.size(heads) == v.size(heads),
             "[attention] k {} has {} heads, v {} has {}: G must agree", to_string(k.shape()),
             k.size(heads), to_string(v.shape()), v.size(heads));
  const std::int64_t H = q.size(heads), G = k.size(heads);
  HEED_CHECK(H >= 1 && G >= 1 && H % G == 0,
             "[attention] k {} has {} heads, q {} has {}: H must be a multiple of G",
             to_string(k.shape()), G, to_string(q.shape()), H);
  for (const auto& [what, x] : {std::pair{"q", &q}, {"k", &k}, {"v", &v}}) {
    HEED_CHECK(x->size(-1) >= 1, "[attention] {} {}: its last axis must not be empty", what,
               to_string(x->shape()));
  }
}

std::int64_t longest(const std::vector<std::int64_t>& starts) {
  std::int64_t most = 0;
  for (std::size_t b = 1; b < starts.size(); ++b) most = std::max(most, starts[b] - starts[b - 1]);
  return most;
}

void check_starts(const char* what, const std::vector<std::int64_t>& starts, std::int64_t total) {
  HEED_CHECK(!starts.empty() && starts.front() == 0,
             "[attention] {} begins with {}: the first sequence starts at row 0", what,
             starts.empty() ? "nothing" : fmt::to_string(starts.front()));
  for (std::size_t b = 1; b < starts.size(); ++b) {
    HEED_CHECK(starts[b] >= starts[b - 1],
               "[attention] {} falls from {} to {} at index {}: the starts must not decrease", what,
               starts[b - 1], starts[b], b);
  }
  HEED_CHECK(starts.back() == total,
             "[attention] {} ends with {}, the tensor has {} rows: they must agree", what,
             starts.back(), total);
}

}  // namespace

kernels::AttentionShape check_operands(const Tensor& q, const Tensor& k, const Tensor& v) {
  check_dtypes(q, k, v);
  check_rank("q", q, 4, "[B, H, Tq, D]");
  check_rank("k", k, 4, "[B, G, Tk, D]");
  check_rank("v", v, 4, "[B, G, Tk, Dv]");
  HEED_CHECK(q.size(0) == k.size(0) && k.size(0) == v.size(0),
             "[attention] q {}, k {}, v {}: B must agree", to_string(q.shape()),
             to_string(k.shape()), to_string(v.shape()));
  HEED_CHECK(k.size(2) == v.size(2),
             "[attention] k {} has {} keys, v {} has {} values: Tk must agree",
             to_string(k.shape()), k.size(2), to_string(v.shape()), v.size(2));
  check_heads(q, k, v, 1);
  return {.B = q.size(0),
          .H = q.size(1),
          .G = k.size(1),
          .Tq = q.size(2),
          .Tk = k.size(2),
          .D = q.size(3),
          .Dv = v.size(3)};
}

kernels::AttentionShape check_packed_operands(const Tensor& q, const Tensor& k, const Tensor& v,
                                              const PackedLengths& lengths) {
  check_dtypes(q, k, v);
  check_rank("q", q, 3, "[total, H, D]");
  check_rank("k", k, 3, "[total, G, D]");
  check_rank("v", v, 3, "[total, G, Dv]");
  HEED_CHECK(k.size(0) == v.size(0),
             "[attention] k {} has {} keys, v {} has {} values: they must agree",
             to_string(k.shape()), k.size(0), to_string(v.shape()), v.size(0));
  check_heads(q, k, v, 1);
  check_starts("q_starts", lengths.q_starts, q.size(0));
  check_starts("k_starts", lengths.k_starts, k.size(0));
  HEED_CHECK(lengths.q_starts.size() == lengths.k_starts.size(),
             "[attention] q_starts is for {} sequences, k_starts for {}: they must agree",
             lengths.q_starts.size() - 1, lengths.k_starts.size() - 1);
  return {.B = static_cast<std::int64_t>(lengths.q_starts.size()) - 1,
          .H = q.size(1),
          .G = k.size(1),
          .Tq = longest(lengths.q_starts),
          .Tk = longest(lengths.k_starts),
          .D = q.size(2),
          .Dv = v.size(2),
          .q_starts = lengths.q_starts.data(),
          .k_starts = lengths.k_starts.data()};
}

}  // namespace heed

#include "heed/attention/layer.h"

#include <algorithm>

#include "heed/attention/masks.h"
#include "heed/base/error.h"
#include "heed/ops/view.h"

namespace heed {

void DecodeState::join(const DecodeState&) {
  throw Error("[attention] sequences cannot join this layer's: it decodes all from the start");
}

std::unique_ptr<DecodeState> AttentionLayer::start(const DecodeStart&) const {
  throw Error("[attention] this layer has no state to decode with: call it on whole sequences");
}

std::int64_t AttentionLayer::cache_bytes(const CacheSize&) const { return 0; }

Tensor AttentionLayer::step(const Tensor&, DecodeState&) const {
  throw Error("[attention] this layer has no state to decode with: call it on whole sequences");
}

void check_input(std::string_view layer, const AttentionInput& in, std::int64_t embed,
                 std::int64_t memory_embed) {
  HEED_CHECK(in.x.defined() && in.x.rank() == 3 && in.x.size(2) == embed,
             "[{}] x is {}: it must be [B, T, {}]", layer,
             in.x.defined() ? to_string(in.x.shape()) : "undefined", embed);
  const Tensor& source = in.source();
  HEED_CHECK(source.rank() == 3 && source.size(0) == in.x.size(0) && source.size(2) == memory_embed,
             "[{}] memory is {}: it must be [{}, Tk, {}]", layer, to_string(source.shape()),
             in.x.size(0), memory_embed);
  if (!in.lengths.defined()) return;
  HEED_CHECK(in.lengths.dtype() == DType::i64 && in.lengths.shape() == Shape{in.x.size(0)},
             "[{}] lengths are {} {}: they must be i64 [{}], one for each sequence", layer,
             name_of(in.lengths.dtype()), to_string(in.lengths.shape()), in.x.size(0));
  for (const std::int64_t length : in.lengths.to_vector<std::int64_t>()) {
    HEED_CHECK(length >= 0 && length <= source.size(1),
               "[{}] a length is {}: sequences have 0 to {} positions", layer, length,
               source.size(1));
  }
}

Mask mask_of(const AttentionInput& in, Corner corner) {
  Mask mask = in.mask;
  if (in.causal) mask = causal(corner) & mask;
  if (in.lengths.defined()) mask = key_lengths(in.lengths) & mask;
  return mask;
}

Tensor split_heads(const Tensor& x, std::int64_t heads) {
  const Shape split{x.size(0), x.size(1), heads, x.size(2) / heads};
  return transpose(reshape(x, split), 1, 2);  // [B, heads, T, D]
}

Tensor join_heads(const Tensor& x) {
  const Shape joined{x.size(0), x.size(2), x.size(1) * x.size(3)};
  return reshape(transpose(x, 1, 2), joined);  // [B, T, heads * D]
}

}  // namespace heed

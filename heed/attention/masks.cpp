#include "heed/attention/masks.h"

namespace heed {
namespace {

// clang-format off
constinit const MaskKind kMasks[] = {
    {"causal", "keys at or before the position of the query"},
    {"prefix_causal", "keys at or before the position of the query, and a prefix of sequence b; Raffel et al. 2020, T5"},
    {"window", "keys from p - left to p + right around the position p of the query"},
    {"dilated_window", "every step-th key of a window; van den Oord et al. 2016, WaveNet"},
    {"window_around", "keys within reach of a centre given for each query; Luong et al. 2015"},
    {"global_positions", "pairs in which the query or the key is at a listed position; Beltagy et al. 2020, Longformer"},
    {"key_lengths", "padding: the first lengths[b] keys of sequence b"},
    {"key_range", "keys [first, last)"},
    {"row_intervals", "keys [first, last) given for each query"},
    {"segments", "keys with the same id as the query, such as those of one document"},
    {"block_list", "listed pairs of a block of queries and a block of keys"},
    {"block_pattern", "nearby blocks and one in every few of the others; Child et al. 2019, Sparse Transformers"},
    {"boolean_mask", "keys where a boolean tensor is true"},
    {"mask_fn", "keys where a function of batch, head, query and key is true"},
};
// clang-format on

}  // namespace

std::span<const MaskKind> masks() { return kMasks; }

}  // namespace heed

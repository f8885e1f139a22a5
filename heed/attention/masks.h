// The masks: functions that make a Mask, which says which keys a query may attend to. Masks are
// values: `a & b` shows the keys that are visible in both, `a | b` those that are visible in either
// (mask.h). Two masks have their own headers: masks/block_pattern.h and masks/mask_fn.h. masks()
// lists them all.
//
// b is the sequence in the batch, h the head, i the index of a query, j that of a key. Query i is
// at position i + shift among the keys, where the corner gives the shift (corner.h).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// One entry of the list of masks.
struct MaskKind {
  std::string_view name;  ///< The function that makes it, in C++ and in Python.
  std::string_view what;  ///< One line: which keys a query may attend to.
};

/// All masks.
std::span<const MaskKind> masks();

// ---- by position ----

/// A query at position p attends only to keys j <= p. In packed sequences each sequence has its own
/// corner.
Mask causal(Corner corner = Corner::top_left);

/// Prefix language models (Raffel et al. 2020): a query at position p of sequence b attends to keys
/// j <= p and to all keys j < prefixes[b]. The same keys as causal(corner) | key_lengths(prefixes),
/// but one interval for each query.
Mask prefix_causal(std::vector<std::int64_t> prefixes, Corner corner = Corner::top_left);

/// For window: no limit on that side.
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// A query at position p attends to keys p - left to p + right.
Mask window(std::int64_t left, std::int64_t right, Corner corner = Corner::top_left);

/// A window with gaps.
struct DilatedWindow {
  std::int64_t left = 0, right = 0;  ///< Keys before and after the query's position.
  std::int64_t step = 1;             ///< Distance between visible keys.
};

/// A query at position p attends to keys p + n step for n from -left to right, as in dilated
/// convolutions (WaveNet, van den Oord et al. 2016) and Longformer's higher layers (Beltagy et al.
/// 2020). Keys outside the window cost nothing; keys in its gaps are computed and discarded.
Mask dilated_window(const DilatedWindow& window, Corner corner = Corner::top_left);

/// A window around a centre that is given for each query and need not be an integer (Luong et al.
/// 2015, local-p): query i attends to the keys j with |j - centres[b, h, i]| <= reach. centres
/// [B, H, Tq], where B and H may be 1. A query whose centre is NaN attends to every key. No
/// gradient flows to the centres.
Mask window_around(const Tensor& centres, double reach);

/// Global tokens as in Longformer (Beltagy et al. 2020): a query attends to a key where the
/// position of either is listed. Combine it by | with a mask for the other positions. Blocks of
/// queries and keys without a listed position are skipped.
Mask global_positions(std::vector<std::int64_t> positions, Corner corner = Corner::top_left);

// ---- by ranges of keys ----

/// Padding: queries of sequence b attend to keys [0, lengths[b]).
Mask key_lengths(std::vector<std::int64_t> lengths);
/// The same from a tensor [B], i32 or i64.
Mask key_lengths(const Tensor& lengths);

/// Whether the end symbol belongs to its sequence.
enum class EndSymbol : std::uint8_t { counts, is_padding };

/// Lengths [B], i64, of the sequences ids [B, T], i32 or i64: each ends at its first `end`, or at T
/// if it has none. For key_lengths, AttentionInput::lengths and the like; not a mask itself.
Tensor lengths_by_end_symbol(const Tensor& ids, std::int64_t end,
                             EndSymbol symbol = EndSymbol::counts);

/// Every query attends to keys [first, last), which may extend beyond the existing keys.
Mask key_range(std::int64_t first, std::int64_t last);

/// Query i attends to keys [first[b, h, i], last[b, h, i]), none if last <= first; both are i64
/// [B, H, Tq]. For mechanisms that sort positions and know which interval belongs to which query.
Mask row_intervals(const Tensor& first, const Tensor& last);

/// Several documents in one sequence: query i attends to key j where q_ids[b, i] = k_ids[b, j]. Ids
/// are [B, Tq] and [B, Tk], i32 or i64. If the ids of keys never decrease along a sequence, other
/// documents cost nothing.
Mask segments(const Tensor& q_ids, const Tensor& k_ids);
/// The same ids [B, T] for queries and keys.
Mask segments(const Tensor& ids);

// ---- by blocks or single elements ----

/// A pair of blocks, counted from 0.
struct BlockPair {
  std::int64_t query = 0, key = 0;
};

/// Block-sparse attention: sequences are cut into blocks of `size` positions, and the queries of
/// block `query` attend to the keys of block `key` for each listed pair, in every head.
Mask block_list(std::int64_t size, std::vector<BlockPair> pairs);
/// The same with one list for each head.
Mask block_list(std::int64_t size, std::vector<std::vector<BlockPair>> pairs_of_heads);

/// Query i attends to key j where visible[b, h, i, j] is true. Any of the four axes may be 1, and
/// leading axes may be absent. Each call packs the mask into bits, once for all heads that share
/// it: blocks that are hidden as a whole are skipped, and rows that show one interval are treated
/// as such.
Mask boolean_mask(const Tensor& visible);

}  // namespace heed

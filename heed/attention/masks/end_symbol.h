// Padding told by the text itself: a sequence is over at its end symbol.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

/// Whether the end symbol is a position of its sequence.
enum class EndSymbol : std::uint8_t { counts, is_padding };

/// The lengths [B] in i64 of sequences ids [B, T], i32 or i64: up to the first `end` of each, or T
/// if it has none. For key_lengths, AttentionInput::lengths and the like.
Tensor lengths_by_end_symbol(const Tensor& ids, std::int64_t end,
                             EndSymbol symbol = EndSymbol::counts);

}  // namespace heed

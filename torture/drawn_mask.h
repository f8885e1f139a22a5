// Random masks, each with its meaning as a predicate: every kind of the list (masks.h), and
// compositions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "heed/attention/mask.h"
#include "tests/attention/plain_attention.h"
#include "torture/draws.h"

namespace heed::torture {

/// A query and a key of a sequence with that many queries and keys.
struct Pair {
  std::int64_t b, h, i, j;
  std::int64_t queries, keys;
};

struct DrawnMask {
  Mask mask;
  std::function<bool(const Pair&)> sees;
  std::string text;
};

/// A mask that fits the sizes. Packed calls accept only those that do not list queries.
DrawnMask draw_mask(Draws& draws, const test::CaseSizes& s, bool packed = false);

/// The predicate as booleans [B, H, Tq, Tk].
Tensor visible_of(const DrawnMask& mask, const test::CaseSizes& s);

}  // namespace heed::torture

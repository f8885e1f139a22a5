// A pair of tokens that translate each other. Tables of them are estimated from parallel text
// (heed/data/lexicon.h) and make translation faster (heed/generation/shortlist.h).
#pragma once

#include <cstdint>

namespace heed {

struct LexicalEntry {
  std::int32_t source;
  std::int32_t target;
  double probability;  ///< Of the target token, given that it translates the source token.
};

}  // namespace heed

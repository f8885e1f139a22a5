// The loss of a language model by position in its context: whether it uses what is far back.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/token_stream.h"
#include "heed/models/model.h"

namespace heed {

/// Mean over the predictions at positions [first, last) of all blocks.
struct PositionLoss {
  std::int64_t first = 0, last = 0;
  double loss = 0.0;      ///< Negative log-probability of the next token, in nats.
  double accuracy = 0.0;  ///< Share of next tokens that have the greatest score.
  std::int64_t count = 0;
};

struct PositionLossOptions {
  std::int64_t length = 256;  ///< Tokens of a block.
  std::int64_t parts = 8;     ///< Ranges of positions of about the same size.
  std::int64_t blocks = 0;    ///< The first so many blocks; 0: all.
};

/// The text is cut into blocks without overlap; a shorter last one is left out.
std::vector<PositionLoss> position_losses(const CausalModel& model, const TokenStream& text,
                                          const PositionLossOptions& options);

}  // namespace heed

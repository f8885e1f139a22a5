// How many positions a model of text knows: some codes, such as learned ones, have an end.
#pragma once

#include "heed/attention/positions/added.h"
#include "heed/models/text_embedding.h"

namespace heed {

/// The most tokens of a text; AddedCode::kAnyLength where there is no end.
inline std::int64_t position_limit(const TextEmbedding& embedding) {
  const auto* const added = dynamic_cast<const AddedCode*>(embedding.position.get());
  return added != nullptr ? added->length() : AddedCode::kAnyLength;
}

}  // namespace heed

// Decoding of Transformers that copy words of the source: the weights of the last layer's attention
// to the source, and the gate between writing and copying, of each step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "heed/attention/variants/pointer_generator.h"
#include "heed/models/copying.h"
#include "heed/nn/embedding.h"

namespace heed {

/// Weights [B, H, T, S] -> [B, T, S]: those of one head, from 1, or the mean of all.
Tensor copy_weights(const Tensor& cross, std::optional<std::int64_t> head);

/// What a gate reads, and of which head.
struct CopyReader {
  const CopyGate& gate;
  const Embedding& inputs;  ///< Of the target's tokens.
  std::optional<std::int64_t> head;
};

/// `steps` with what each of them copies. Gate and embeddings must outlive it.
std::unique_ptr<Decoding> decode_copying_steps(const CopyReader& reader, const Memory& memory,
                                               std::unique_ptr<Decoding> steps);

}  // namespace heed

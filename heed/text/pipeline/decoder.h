// The decoders of tokenizer.json: they turn tokens back into text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/text/pipeline/json_node.h"

namespace heed::pipeline {

/// The interface of decoders; they are immutable.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Rewrites tokens; the text is their concatenation.
  virtual void decode(std::vector<std::string>& tokens) const = 0;
};

/// Reads the section "decoder". An unknown type throws heed::Error.
std::unique_ptr<const Decoder> read_decoder(const JsonNode& node);

}  // namespace heed::pipeline

// The pre-tokenizers of tokenizer.json: they split a normalised text into the words that the model
// then splits into tokens.
#pragma once

#include <memory>

#include "heed/text/pipeline/aligned_text.h"
#include "heed/text/pipeline/json_node.h"

namespace heed::pipeline {

/// The interface of pre-tokenizers; they are immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Splits each part that is not an added token.
  virtual void split(Pieces& pieces) const = 0;
};

/// Reads the section "pre_tokenizer". An unknown type throws heed::Error.
std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const JsonNode& node);

}  // namespace heed::pipeline

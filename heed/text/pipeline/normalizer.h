// The normalizers of tokenizer.json: they rewrite a text before it is split.
#pragma once

#include <memory>

#include "heed/text/pipeline/aligned_text.h"
#include "heed/text/pipeline/json_node.h"

namespace heed::pipeline {

/// The interface of normalizers; they are immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void normalize(AlignedText& text) const = 0;
};

/// Reads the section "normalizer". An unknown type throws heed::Error.
std::unique_ptr<const Normalizer> read_normalizer(const JsonNode& node);

/// Reads {"String": …} or {"Regex": …}.
class Pattern;
Pattern read_pattern(const JsonNode& node);

}  // namespace heed::pipeline

// The files that a Hugging Face folder has beside its weights, made from a GGUF file.
#pragma once

#include <vector>

#include "heed/io/tensor_source.h"
#include "heed/models/importers/foreign_config.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// config.json (from gguf_config()), tokenizer.json, tokenizer_config.json with the chat template.
std::vector<Tokenizer::File> gguf_files(const ForeignConfig& config,
                                        const io::TensorSource& tensors);

}  // namespace heed

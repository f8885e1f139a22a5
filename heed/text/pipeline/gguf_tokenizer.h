// The tokenizer inside a GGUF file: its metadata as a tokenizer.json, so that one reader serves
// all. There are byte-level BPE ("gpt2"), whose pre-tokenizer has a name, and SentencePiece BPE
// ("llama"), whose merges follow from the scores of its tokens.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heed/io/gguf_metadata.h"
#include "heed/text/pipeline/hf_tokenizer.h"

namespace heed {

/// The tokenizer of a GGUF file; `source` names the file in messages.
std::shared_ptr<const HfTokenizer> read_gguf_tokenizer(const io::GgufMetadata& metadata,
                                                       std::string_view source);

namespace pipeline {

/// The content of a tokenizer.json that does the same.
std::string gguf_tokenizer_json(const io::GgufMetadata& metadata, std::string_view source);

}  // namespace pipeline
}  // namespace heed

// Reads the tokenizer of a folder as Hugging Face lays them out.
//
//   const auto tokenizer = read_hf_tokenizer("all-MiniLM-L6-v2");
#pragma once

#include <filesystem>
#include <memory>

#include "heed/text/tokenizer.h"

namespace heed {

/// The two languages of a translator.
enum class Side { source, target };

/// Reads, whichever the folder has first: tokenizer.json; source.spm or target.spm with vocab.json
/// (Marian, which alone uses `side`); vocab.json with merges.txt (GPT-2, RoBERTa); vocab.json with
/// sentencepiece.bpe.model (M2M100); vocab.txt (BERT); spiece.model (T5); sentencepiece.bpe.model
/// (XLM-R, mBART); tokenizer.model (SentencePiece). Special tokens and settings come from
/// tokenizer_config.json and special_tokens_map.json. A folder with none throws heed::Error.
std::shared_ptr<const Tokenizer> read_hf_tokenizer(const std::filesystem::path& folder,
                                                   Side side = Side::source);

}  // namespace heed

// Writes a tokenizer.json for the older kinds of files, so that one reader serves all: BERT's
// vocab.txt, GPT-2's and RoBERTa's vocab.json with merges.txt, and the SentencePiece models of T5
// and XLM-R.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "heed/text/pipeline/spm_file.h"

namespace heed::pipeline {

/// The settings of BERT's tokenizer.
struct BertOptions {
  bool lower_case = true;
  bool strip_accents = true;
  bool chinese = true;
  std::string unknown = "[UNK]", begin = "[CLS]", end = "[SEP]", padding = "[PAD]", mask = "[MASK]";
};

/// BERT: one token per line of vocab.txt.
std::string bert_tokenizer_json(std::string_view vocab_txt, const BertOptions& options);

/// The settings of byte-level BPE.
struct ByteLevelOptions {
  bool prefix_space = false;
  bool roberta = false;  ///< <s> … </s> around sequences.
};

/// GPT-2 and RoBERTa: the object of vocab.json, and the lines of merges.txt.
std::string byte_level_tokenizer_json(std::string_view vocab_json, std::string_view merges_txt,
                                      const ByteLevelOptions& options, std::string_view source);

/// T5: the pieces, then <extra_id_99> to <extra_id_0>.
std::string t5_tokenizer_json(const SpmFile& model, std::int64_t extra_ids);

/// XLM-R and other fairseq models: <s>, <pad>, </s>, <unk>, the pieces after the first three, the
/// languages of mBART, and <mask>.
std::string fairseq_tokenizer_json(const SpmFile& model,
                                   std::span<const std::string_view> languages = {});

}  // namespace heed::pipeline

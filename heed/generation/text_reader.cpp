#include "heed/generation/text_reader.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/tensor/padding.h"
#include "heed/text/pipeline/hf_tokenizer.h"

namespace heed {
namespace {

Tensor padded(std::span<const ReadText> texts, std::vector<std::int32_t> ReadText::*member,
              std::int32_t padding, Tensor* lengths) {
  std::vector<std::span<const std::int32_t>> rows;
  rows.reserve(texts.size());
  for (const ReadText& text : texts) rows.emplace_back(text.*member);
  PaddedRows made = pad_rows(rows, padding);
  if (lengths != nullptr) *lengths = std::move(made.lengths);
  return std::move(made.tokens);
}

ReadText read_special(const HfTokenizer& tokenizer, const TextOrPair& text, std::int64_t longest) {
  Encoding encoding = tokenizer.encode_up_to(text.text, text.pair, longest);
  const bool has_types = std::ranges::any_of(encoding.types, [](auto type) { return type != 0; });
  return {std::move(encoding.ids),
          has_types ? std::move(encoding.types) : std::vector<std::int32_t>()};
}

}  // namespace

ReadText read_text(const Tokenizer& tokenizer, TextFrame frame, const TextOrPair& text,
                   std::int64_t longest) {
  if (frame == TextFrame::special) {
    const auto* const hf = dynamic_cast<const HfTokenizer*>(&tokenizer);
    if (hf != nullptr) return read_special(*hf, text, longest);
  }
  HEED_CHECK(!text.pair,
             "[text] a pair of texts was given: this model was trained on single ones; join the "
             "two, or use a model of Hugging Face that was trained on pairs");
  ReadText read{tokenizer.encode(text.text)};
  read.ids.insert(read.ids.begin(), tokenizer.special().begin);
  if (read.size() > longest) read.ids.resize(static_cast<std::size_t>(longest));
  return read;
}

TextBatch batch_of(std::span<const ReadText> texts, std::int32_t padding) {
  TextBatch batch;
  batch.ids = padded(texts, &ReadText::ids, padding, &batch.lengths);
  const bool has_types =
      std::ranges::any_of(texts, [](const ReadText& text) { return !text.types.empty(); });
  if (!has_types) return batch;
  std::vector<ReadText> all(texts.begin(), texts.end());
  for (ReadText& text : all) text.types.resize(text.ids.size());
  batch.types = padded(all, &ReadText::types, 0, nullptr);
  return batch;
}

}  // namespace heed

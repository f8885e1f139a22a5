// Labelled text for classifiers: each line holds a label, a tab and the text.
//
//   const LabelledCorpus corpus = read_labelled("train.tsv", *tokenizer, {.max_length = 256});
//   LabelledStream stream(corpus, {.batch_sentences = 32});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/batching.h"
#include "heed/data/epoch_stream.h"
#include "heed/data/line_check.h"
#include "heed/data/token_rows.h"
#include "heed/tensor/tensor.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// Options of read_labelled.
struct LabelledOptions {
  std::vector<std::string> labels =
      {};                       ///< In the order of their numbers; none: those of the file.
  std::int64_t max_length = 0;  ///< Texts are truncated to so many tokens; 0: never.
  bool begin = true;  ///< Texts begin with the begin token; a model may read the label off it.
  /// Reads a text as the model expects it, with all special tokens; none: by the tokenizer.
  std::function<std::vector<std::int32_t>(std::string_view text)> read = {};
  OnBad on_bad = OnBad::stop;
};

/// Labelled texts as token ids.
struct LabelledCorpus {
  std::vector<std::string> names;    ///< Names of the labels; sorted if taken from the file.
  std::vector<std::int32_t> labels;  ///< For each text, an index into `names`.
  TokenRows texts;
  SpecialTokens special;
  BadLines bad;          ///< Lines that were skipped.
  std::int64_t cut = 0;  ///< The number of truncated texts.
  std::int64_t size() const { return texts.size(); }
};

/// Reads a file, plain or gzip. If labels are given, a line with another label is a bad line.
LabelledCorpus read_labelled(const std::filesystem::path& path, const Tokenizer& tokenizer,
                             const LabelledOptions& options = {});

/// The labels of a file, sorted.
std::vector<std::string> read_labels(const std::filesystem::path& path, OnBad on_bad = OnBad::stop);

/// One batch of labelled texts.
struct LabelledBatch {
  Tensor tokens;                 ///< i64 [B, T]
  Tensor lengths;                ///< i64 [B]
  Tensor labels;                 ///< i64 [B]
  std::int64_t token_count = 0;  ///< Without padding.
};

/// Makes a batch of the given texts.
LabelledBatch make_batch(const LabelledCorpus& corpus, std::span<const std::int32_t> texts);
/// The lengths of all texts, for plan_epoch.
std::vector<PairLength> lengths_of(const LabelledCorpus& corpus);

/// An endless stream of batches of labelled texts.
class LabelledStream : public EpochStream<LabelledBatch> {
 public:
  LabelledStream(std::shared_ptr<const LabelledCorpus> corpus, const BatchingOptions& options,
                 std::size_t ahead = 4);
};

}  // namespace heed

// Text with labels, for classifiers: lines of a label, a tab and the text.
//
//   const LabelledCorpus corpus = read_labelled("train.tsv", *tokenizer, {.max_length = 256});
//   LabelledStream stream(corpus, {.batch_sentences = 32});
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batching.h"
#include "heed/data/epoch_stream.h"
#include "heed/data/line_check.h"
#include "heed/data/token_rows.h"
#include "heed/tensor/tensor.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct LabelledOptions {
  std::vector<std::string> labels =
      {};                       ///< In the order of their numbers; none: those of the file.
  std::int64_t max_length = 0;  ///< Longer texts are cut behind so many tokens; 0: never.
  bool begin = true;  ///< Texts begin with the begin token, which may be read for the label.
  OnBad on_bad = OnBad::stop;
};

/// Labelled texts as numbers.
struct LabelledCorpus {
  std::vector<std::string> names;    ///< Of the labels; sorted when taken from the file.
  std::vector<std::int32_t> labels;  ///< Of each text: a place in `names`.
  TokenRows texts;
  SpecialTokens special;
  BadLines bad;          ///< Lines left out.
  std::int64_t cut = 0;  ///< Texts that were too long.
  std::int64_t size() const { return texts.size(); }
};

/// Reads a file, plain or gzip. A label that is not among those given is a bad line.
LabelledCorpus read_labelled(const std::filesystem::path& path, const Tokenizer& tokenizer,
                             const LabelledOptions& options = {});

struct LabelledBatch {
  Tensor tokens;                 ///< i64 [B, T]
  Tensor lengths;                ///< i64 [B]
  Tensor labels;                 ///< i64 [B]
  std::int64_t token_count = 0;  ///< Without padding.
};

/// Makes a batch of chosen texts.
LabelledBatch make_batch(const LabelledCorpus& corpus, std::span<const std::int32_t> texts);
/// The lengths of all texts, for plan_epoch.
std::vector<PairLength> lengths_of(const LabelledCorpus& corpus);

/// Batches of labelled texts without end.
class LabelledStream : public EpochStream<LabelledBatch> {
 public:
  LabelledStream(std::shared_ptr<const LabelledCorpus> corpus, const BatchingOptions& options,
                 std::size_t ahead = 4);
};

}  // namespace heed

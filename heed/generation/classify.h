// Classification of texts: probabilities of the labels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/text_reader.h"
#include "heed/io/fields.h"
#include "heed/tensor/padding.h"

namespace heed {

struct FolderFormat;

/// The tokens of a text as the model reads them, at most `longest`.
ReadText read_text(const TextClassifier& classifier, const TextOrPair& text, std::int64_t longest);

/// The format of its folders (folder_format.h).
extern const FolderFormat kClassifierFolder;

/// The probabilities of the labels, in the classifier's order, for each text of a batch; of
/// regression, numbers.
std::vector<std::vector<float>> classify(const TextClassifier& classifier,
                                         std::span<const ReadText> texts);

struct ClassifyOptions {
  std::int64_t max_source = 1024;            // maximum number of tokens read of a text
  std::int64_t batch_tokens = kBatchTokens;  // tokens of a batch, including padding

  void fields(io::Fields& field);
  /// Throws heed::Error if a member is outside its limits.
  void validate() const;
};

/// The probabilities of the labels for each text, in the order given. `on_batch` is called before
/// each batch and may stop the work by throwing.
std::vector<std::vector<float>> classify_texts(const TextClassifier& classifier,
                                               std::span<const TextOrPair> texts,
                                               const ClassifyOptions& options = {},
                                               const std::function<void()>& on_batch = {});

std::vector<std::vector<float>> classify_texts(const TextClassifier& classifier,
                                               std::span<const std::string> texts,
                                               const ClassifyOptions& options = {},
                                               const std::function<void()>& on_batch = {});

/// The indices of the labels, most probable first; among equals the lower index first.
std::vector<std::size_t> by_probability(std::span<const float> probabilities);

}  // namespace heed

// Vectors of texts, and texts with similar ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/text_reader.h"
#include "heed/io/fields.h"
#include "heed/tensor/padding.h"

namespace heed {

struct FolderFormat;

/// The format of folders of sentence encoders (folder_format.h).
extern const FolderFormat kEmbedderFolder;

struct EmbedOptions {
  std::optional<Pooling> pooling = {};     // none: as in the model's config
  std::optional<bool> normalize = {};      // to length 1; none: as in the model's config
  std::optional<std::string> prompt = {};  // text before every text; none: as in the model's folder
  std::int64_t max_source = 1024;          // maximum number of tokens read of a text

  void fields(io::Fields& field);
  /// Throws heed::Error if a member is outside its limits.
  void validate() const;
};

/// The tokens of a text as the model reads them.
ReadText read_text(const TextEmbedder& embedder, std::string_view text,
                   const EmbedOptions& options = {});

/// The vectors [B, E'] of a batch.
Tensor embed(const TextEmbedder& embedder, std::span<const ReadText> texts,
             const EmbedOptions& options = {});

/// The vectors [N, E'] of texts, in the order given. `on_batch` is called before each batch and may
/// stop the work by throwing.
Tensor embed_texts(const TextEmbedder& embedder, std::span<const std::string> texts,
                   const EmbedOptions& options = {}, std::int64_t batch_tokens = kBatchTokens,
                   const std::function<void()>& on_batch = {});

/// The cosine of the angle between two vectors, computed in double; 0 if one of them is 0.
double cosine(std::span<const float> a, std::span<const float> b);

/// A text and its similarity with a query.
struct NearText {
  double similarity = 0.0;
  std::int64_t number = 0;  ///< Of the text, from 0.
  std::string text;
};

/// The texts most similar to queries, found while texts come one by one.
class NearestTexts {
 public:
  /// Keeps the `count` most similar texts for each query.
  NearestTexts(std::vector<std::vector<float>> queries, std::int64_t count);

  /// Adds the next text.
  void add(const std::string& text, std::span<const float> vector);
  /// For each query the nearest texts, the most similar first; among equals the earlier one.
  const std::vector<std::vector<NearText>>& found() const { return found_; }

 private:
  std::vector<std::vector<float>> queries_;
  std::int64_t count_, texts_ = 0;
  std::vector<std::vector<NearText>> found_;
};

}  // namespace heed

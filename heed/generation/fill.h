// Masked tokens of texts: which tokens are likely to stand there.
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

/// The format of folders of models of masked tokens (folder_format.h).
extern const FolderFormat kFillerFolder;

/// A token that may stand at a masked position.
struct Filling {
  std::int32_t id = 0;
  std::string token;  ///< As text, without the mark of a word's beginning.
  float probability = 0.0f;
};

/// A text with its masked positions.
struct FilledText {
  std::string text;  ///< With the most probable token at each masked position.
  /// For each masked position in order, the most probable tokens first.
  std::vector<std::vector<Filling>> masks;
};

struct FillOptions {
  std::int64_t top_k = 5;                    // tokens of each masked position
  std::int64_t max_source = 1024;            // maximum number of tokens read of a text
  std::int64_t batch_tokens = kBatchTokens;  // tokens of a batch, including padding

  void fields(io::Fields& field);
  /// Throws heed::Error if a member is outside its limits.
  void validate() const;
};

/// The tokens of a text as the model reads them. Throws if there is no masked position among them;
/// `place` says where the text comes from.
ReadText read_masked(const TextFiller& filler, std::string_view text, std::int64_t longest,
                     std::string_view place = "the text");

/// The masked positions of each text of a batch.
std::vector<FilledText> fill(const TextFiller& filler, std::span<const ReadText> texts,
                             const FillOptions& options = {});

/// The masked positions of each text, in the order given. `on_batch` is called before each batch
/// and may stop the work by throwing.
std::vector<FilledText> fill_texts(const TextFiller& filler, std::span<const std::string> texts,
                                   const FillOptions& options = {},
                                   const std::function<void()>& on_batch = {});

}  // namespace heed

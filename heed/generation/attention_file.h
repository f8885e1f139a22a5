// All attention weights of translated sentences in one file, for use with other tools. Sentences
// are written one by one; the file appears under its name when it is complete.
//
// .safetensors: tensors "7.encoder" [L, H, S, S], "7.decoder" [L, H, T, T] and "7.cross"
//   [L, H, T, S] of sentence 7 (from 0), layers and heads first; the metadata "7" has its tokens as
//   JSON: {"source": […], "target": […], "target_read": […]}.
// .json: {"sentences": [{"number": 7, "source": […], …, "encoder": [[[[…]]]], …}, …]}, a line each.
//
// A row of "decoder" and "cross" is the step that wrote a token of "target", the end token last; a
// column of "decoder" is a token of "target_read", the begin token first. Weights that do not exist
// (an empty sentence, a mechanism without weights) are absent, or null in JSON.
#pragma once

#include <filesystem>
#include <memory>

#include "heed/generation/translation_filter.h"

namespace heed {

class AttentionFile {
 public:
  /// The extension selects the format: .safetensors or .json.
  explicit AttentionFile(const std::filesystem::path& path);
  ~AttentionFile();

  /// Adds the attention weights of a sentence's best translation.
  void add(const Translator& translator, const Translated& translated);
  /// Completes the file, which then appears under its name.
  void commit();

  class Form;

 private:
  std::unique_ptr<Form> form_;
};

}  // namespace heed

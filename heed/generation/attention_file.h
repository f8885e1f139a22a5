// All attention weights of translated sentences in one file, for whoever wants to look at them with
// other tools. Sentence by sentence to the disk; the file appears when it is whole.
//
// .safetensors: tensors "7.encoder" [L, H, S, S], "7.decoder" [L, H, T, T] and "7.cross"
//   [L, H, T, S] of sentence 7 (from 0), layers and heads first; the metadata "7" has its tokens as
//   JSON: {"source": […], "target": […], "target_read": […]}.
// .json: {"sentences": [{"number": 7, "source": […], …, "encoder": [[[[…]]]], …}, …]}, a line each.
//
// A row of "decoder" and "cross" is the step that wrote a token of "target", the end last; a column
// of "decoder" is a token of "target_read", begin first. What has no weights (an empty sentence, a
// mechanism that forms none) is absent, or null in JSON.
#pragma once

#include <filesystem>
#include <memory>

#include "heed/generation/translation_filter.h"

namespace heed {

class AttentionFile {
 public:
  /// The form is told by the name: .safetensors or .json.
  explicit AttentionFile(const std::filesystem::path& path);
  ~AttentionFile();

  /// Adds the weights with which a sentence's best translation was written.
  void add(const Translator& translator, const Translated& translated);
  /// Makes the file appear under its name.
  void commit();

  class Form;

 private:
  std::unique_ptr<Form> form_;
};

}  // namespace heed

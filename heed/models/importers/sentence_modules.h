// The files that sentence-transformers puts beside a model, which say how vectors of texts are
// made: modules.json and the configs of its modules.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "heed/models/importers/foreign_config.h"
#include "heed/models/sentence_encoder.h"

namespace heed {

/// A dense layer after pooling.
struct SentenceDense {
  std::string folder;  ///< Of its weights, inside the model's.
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = true;
  Activation activation = Activation::tanh;
};

struct SentenceModules {
  Pooling pooling = Pooling::mean;
  bool normalize = false;
  std::optional<SentenceDense> dense = {};
  std::int64_t max_tokens = 0;  ///< 0: as many as the model has positions.
  bool lower_case = false;      ///< Whether texts are read in lower case.
  std::string prompt = {};      ///< Text before every text.
};

/// Reads the modules of a folder; none if it has no modules.json. Modules that heed has nothing
/// for, or another order of them, throw heed::Error.
std::optional<SentenceModules> read_sentence_modules(const std::filesystem::path& folder);

}  // namespace heed

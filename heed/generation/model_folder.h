// A trained model as a folder: config.json says what it is, model.safetensors holds its parameters,
// and its tokenizers' files lie beside. What all kinds of models have in common.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heed/text/tokenizer.h"

namespace heed {

inline constexpr std::string_view kModelConfigFile = "config.json";
inline constexpr std::string_view kModelFile = "model.safetensors";
/// Where the folder of a training run leads to its best and its last checkpoint.
inline constexpr std::string_view kBestCheckpoint = "checkpoint_best";
inline constexpr std::string_view kLastCheckpoint = "checkpoint_last";

/// Writes a tokenizer's files into the folder, their names behind the prefix; the name of the one
/// that load_tokenizer() reads.
std::string write_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder,
                            std::string_view prefix);

/// The folder of a model: the one given, or, if that is where a model was trained, its best
/// checkpoint, or its last if none was judged.
std::filesystem::path find_model(const std::filesystem::path& folder);

/// The kind of model that a folder says it holds; throws if it is none of heed's.
std::string kind_of_model(const std::filesystem::path& folder);

/// Throws unless the folder holds that kind.
void check_kind(const std::filesystem::path& folder, std::string_view kind);

}  // namespace heed

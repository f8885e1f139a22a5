// Named tensors in safetensors files: the parameters of a module, or any list of tensors (the state
// of an optimiser). Loading is strict by default and all or nothing: everything is compared first,
// and an error lists all that does not fit.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/nn/module.h"

namespace heed {

/// Replaces whole dotted parts of the file's names: {"encoder.layer", "encoder.layers"} turns
/// "bert.encoder.layer.0.x" into "bert.encoder.layers.0.x" and leaves "encoder.layer_norm" alone.
struct Rename {
  std::string from;
  std::string to;
};

struct LoadOptions {
  bool strict = true;       // a tensor that only the file or only the module has is an error
  std::string prefix = {};  // read the names that begin with it, without it: "model.encoder."
  std::vector<Rename> rename = {};  // applied in order, after the prefix is taken off
};

/// What a load that was not strict passed over.
struct LoadReport {
  std::vector<std::string> missing;     // in the module, not in the file
  std::vector<std::string> unexpected;  // in the file, not in the module
};

/// Writes all parameters, atomically; tied ones once under their first name.
void save_parameters(const Module& module, const std::filesystem::path& path,
                     const io::Metadata& metadata = {});

/// Copies a file's tensors into the parameters, converting between f32, f64 and bf16; tied
/// parameters are found under any of their names.
LoadReport load_parameters(Module& module, const std::filesystem::path& path,
                           const LoadOptions& options = {});

/// The same for a list of tensors, which are written as they are named.
void save_tensors(std::span<const NamedTensor> tensors, const std::filesystem::path& path,
                  const io::Metadata& metadata = {});
/// Reads a file into a list of tensors, in place.
LoadReport load_tensors(std::span<const NamedTensor> tensors, const io::SafetensorsFile& file,
                        const LoadOptions& options = {});

}  // namespace heed

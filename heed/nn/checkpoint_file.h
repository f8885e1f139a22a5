// Named tensors in safetensors files: the parameters of a module, or any list of tensors (the state
// of an optimiser). Loading is strict by default and all or nothing: everything is compared before
// anything is copied, and an error lists every mismatch.
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

/// Options of load_parameters() and load_tensors().
struct LoadOptions {
  bool strict = true;       // a tensor that only the file or only the module has is an error
  std::string prefix = {};  // names without it are skipped, others lose it: "model.encoder."
  std::vector<Rename> rename = {};  // applied in order, after the prefix is removed
};

/// The names that a load with strict = false skipped.
struct LoadReport {
  std::vector<std::string> missing;     // in the module, not in the file
  std::vector<std::string> unexpected;  // in the file, not in the module
};

/// Writes all parameters atomically. Tied parameters are written once, under their first name. For
/// packed weights there is save_packed() (packed_file.h).
void save_parameters(const Module& module, const std::filesystem::path& path,
                     const io::Metadata& metadata = {});

/// Copies a file's tensors into the parameters, converting between f32, f64 and bf16. A tied
/// parameter may be stored under any of its names.
LoadReport load_parameters(Module& module, const std::filesystem::path& path,
                           const LoadOptions& options = {});

/// A contiguous tensor as an item of a file; it refers to the memory of the tensor.
io::SafetensorsItem item_of(const std::string& name, const Tensor& tensor);

/// Writes a list of tensors atomically, each under its name.
void save_tensors(std::span<const NamedTensor> tensors, const std::filesystem::path& path,
                  const io::Metadata& metadata = {});
/// Copies a file's tensors into a list of tensors, in place.
LoadReport load_tensors(std::span<const NamedTensor> tensors, const io::SafetensorsFile& file,
                        const LoadOptions& options = {});

}  // namespace heed

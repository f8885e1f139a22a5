// The parameters of a model with packed weights in a safetensors file. A weight "x.weight" of int8
// is stored as I8 [out, in], from -127 to 127, with its scales as F32 [out, groups of 64 columns]
// under "x.weight_scale"; one of bf16 as BF16, one of f32 as F32. Other parameters are stored as
// they are. Tied weights are stored once.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "heed/io/safetensors.h"
#include "heed/nn/module.h"
#include "heed/nn/packed_weight.h"

namespace heed {

/// The end of the name of a weight's scales.
inline constexpr std::string_view kScaleSuffix = "_scale";

/// The form of a model's packed weights; none if no weight is packed.
std::optional<PackedForm> packed_form(const Module& model);

/// Writes all parameters atomically. Throws if a weight of int8 has a row with NaN or infinity.
void save_packed(const Module& model, const std::filesystem::path& path,
                 const io::Metadata& metadata = {});

/// Reads a file that save_packed() wrote, with weights in the form bf16 or int8, into a model whose
/// weights are plain, and packs these as they are in the file: no matrix is converted to f32.
/// Everything is compared before a weight is changed, and errors list every mismatch.
void load_packed(Module& model, const io::SafetensorsFile& file, PackedForm form);

}  // namespace heed

// The parameters of a model with packed weights in a safetensors file. A weight "x.weight" of int8
// is stored as I8 [out, in], from -127 to 127, with its scales as F32 [out, groups of 64 columns]
// under "x.weight_scale", and what rounding left of an output layer as I8 [out, in] under
// "x.weight_remainder"; one of int4 as block_file.h says; one of bf16 as BF16, one of f32 as F32.
// Other parameters are stored as they are. Tied weights are stored once.
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
/// The end of the name of its remainders; a file may lack them.
inline constexpr std::string_view kRemainderSuffix = "_remainder";

/// The form of a model's packed weights: int4 if one of them is, else that of the first; none if no
/// weight is packed.
std::optional<PackedForm> packed_form(const Module& model);

/// Writes all parameters atomically. Throws if a weight of int8 or int4 has a row with NaN or
/// infinity.
void save_packed(const Module& model, const std::filesystem::path& path,
                 const io::Metadata& metadata = {});

/// Reads a file that save_packed() wrote, with weights in the form bf16, int8 or int4, into a model
/// whose weights are plain, and packs these as they are in the file: no matrix is converted to f32.
/// Everything is compared before a weight is changed, and errors list every mismatch.
void load_packed(Module& model, const io::SafetensorsFile& file, PackedForm form);

/// Reads a file of plain parameters (checkpoint_file.h) and packs its weights in a form, one after
/// another: no other copy of the model is in memory.
void load_and_pack(Module& model, const io::SafetensorsFile& file, PackedForm form);

}  // namespace heed

// The names of a model's parameters in the files of another program, as a table of patterns:
//
//   {"decoder.layers.{}.norm1.{}", "model.layers.{}.input_layernorm.{}"}
//
// A `{}` stands for a part of a name without dots, the same on both sides. The table is read in
// both directions: importing makes parameters from the tensors of a file, exporting the reverse. If
// several rules match a parameter, the file may have it under any of their names; the first counts.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/tensor_source.h"
#include "heed/nn/module.h"
#include "heed/nn/packed_weight.h"

namespace heed {

/// How the tensor of the file differs from the parameter.
enum class TensorForm : std::uint8_t {
  as_is,
  transposed,    ///< A matrix [in, out] rather than [out, in]; vectors are as they are.
  less_one,      ///< The weight of a norm less 1 (Gemma).
  times_root,    ///< The weight of a norm, multiplied by the square root of its size (T5).
  row,           ///< A vector as a matrix of one row.
  grid_rows,     ///< A matrix [R, F] as [R, 1, F]: the vectors of the rows of a grid (Reformer).
  grid_columns,  ///< A matrix [C, F] as [1, C, F]: those of its columns.
};

struct TensorRule {
  std::string_view ours;
  std::string_view theirs;
  TensorForm form = TensorForm::as_is;
};

/// All rules of an architecture.
struct TensorNames {
  std::span<const TensorRule> rules;
  /// The beginning of all names of theirs that files of a bare model lack: "bert.", or "".
  std::string_view prefix = "";
  /// Tensors that a file may have besides, which have no use: patterns of theirs, where `*` stands
  /// for any text.
  std::span<const std::string_view> unused = {};
};

/// The first name of theirs for a parameter of ours, with the prefix, and its form; none if no rule
/// matches.
struct ForeignName {
  std::string name;
  TensorForm form;
};
std::optional<ForeignName> foreign_name(const TensorNames& names, std::string_view ours);
/// All of them, in the order of the rules.
std::vector<ForeignName> foreign_names(const TensorNames& names, std::string_view ours);

/// Replaces the parameters of a model with the tensors of a file: in place where the file has them
/// as heed computes with them, else as copies in f32. Names, shapes and types of all tensors are
/// compared first; the error lists what is missing, left over or of another shape. The parameters
/// are read-only and require no gradient. With a form, weights are packed in it one after another
/// (heed/nn/pack_weights.h), so that no other copy of the model is in memory; with f32, weights
/// that the file has in BF16 or in blocks of GGUF stay so.
void import_parameters(Module& model, const TensorNames& names, const io::TensorSource& tensors,
                       std::optional<PackedForm> form = {});

/// The parameters of a model as the tensors of the other program, under its names. Tied parameters
/// are there once, under the first of their names that no other parameter has: two embeddings that
/// are not tied do not have the name of the shared one.
std::vector<NamedTensor> export_parameters(const Module& model, const TensorNames& names);

}  // namespace heed

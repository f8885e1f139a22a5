// The attention weights of a model for one text: for each kind of attention one matrix per layer
// and head, with tokens on both axes. attention_sheet.h and attention_page.h draw it;
// model_attention.h computes it from a model and a text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/alignment.h"
#include "heed/io/codec.h"
#include "heed/pictures/picture.h"
#include "heed/tensor/tensor.h"

namespace heed::plot {

/// A kind of attention in a model.
enum class AttentionKind : std::uint8_t {
  encoder,  ///< Source tokens attend to source tokens.
  decoder,  ///< Generated tokens attend to earlier tokens.
  cross,    ///< Generated tokens attend to source tokens.
};

/// The names that flags use.
constexpr std::array<io::EnumName<AttentionKind>, 3> enum_names(AttentionKind) {
  return {{{AttentionKind::encoder, "encoder"},
           {AttentionKind::decoder, "decoder"},
           {AttentionKind::cross, "cross"}}};
}

/// The name of a kind, as flags use it.
std::string_view name_of(AttentionKind kind);

/// One kind of attention in all its layers.
struct AttentionPart {
  AttentionKind kind = AttentionKind::encoder;
  std::vector<std::string> rows;     ///< Labels of the T query tokens.
  std::vector<std::string> columns;  ///< Labels of the Tk key tokens.
  std::vector<Tensor> layers;        ///< f32 [H, T, Tk] each; H may differ.
};

/// The picture that keys are places of: a grid of places, row by row, covers it.
struct ViewedPicture {
  Picture picture;
  std::int64_t rows = 0, columns = 0;
};

/// All weights of one text.
struct AttentionView {
  std::string text;         ///< The input.
  std::string result = {};  ///< The model's output, if any.
  std::vector<AttentionPart> parts;
  Tensor alignment = {};      ///< f32 [T, Tk]: weights for the alignment, tokens as in `cross`.
  AlignmentEdges edges = {};  ///< Tokens of `alignment` that it does not link.
  /// The picture that the columns of `cross` are places of; none: they are tokens.
  std::optional<ViewedPicture> picture = {};
};

/// Selects a part of a view; members that are not set select everything.
struct AttentionSelection {
  std::optional<AttentionKind> kind = {};
  std::optional<std::int64_t> layer = {};  ///< From 1.
  std::optional<std::int64_t> head = {};   ///< From 1.

  /// True if the layer (head) of that index, from 0, is selected.
  bool wants_layer(std::int64_t index) const { return !layer || *layer == index + 1; }
  bool wants_head(std::int64_t index) const { return !head || *head == index + 1; }
};

/// Throws unless all weights match their labels and are finite.
void check_view(const AttentionView& view);

/// The selected parts, as pointers into the view; throws if a kind, layer or head does not exist.
std::vector<const AttentionPart*> choose_parts(const AttentionView& view,
                                               const AttentionSelection& selection);

}  // namespace heed::plot

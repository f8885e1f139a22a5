// What a model attended to over one text: for each kind of attention one matrix per layer and head,
// with tokens on both axes. Pictures are drawn of it (attention_sheet.h, attention_page.h);
// model_attention.h makes it of a model and a text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/codec.h"
#include "heed/tensor/tensor.h"

namespace heed::plot {

enum class AttentionKind : std::uint8_t {
  encoder,  ///< What is read attends to itself.
  decoder,  ///< What is written attends to what was written before.
  cross,    ///< What is written attends to what is read.
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
  std::vector<std::string> rows;     ///< The tokens that ask: T labels.
  std::vector<std::string> columns;  ///< The tokens that are asked: Tk labels.
  std::vector<Tensor> layers;        ///< f32 [H, T, Tk] each; H may differ.
};

/// All that pictures show of one text.
struct AttentionView {
  std::string text;         ///< What was read.
  std::string result = {};  ///< What the model made of it, if anything.
  std::vector<AttentionPart> parts;
  Tensor alignment = {};  ///< f32 [T, Tk]: what alignments are read off, of tokens as in `cross`.
};

/// Which part of a view is wanted; what is not given is wanted whole.
struct AttentionSelection {
  std::optional<AttentionKind> kind = {};
  std::optional<std::int64_t> layer = {};  ///< From 1.
  std::optional<std::int64_t> head = {};   ///< From 1.

  /// Whether the layer or head of that index, from 0, is wanted.
  bool wants_layer(std::int64_t index) const { return !layer || *layer == index + 1; }
  bool wants_head(std::int64_t index) const { return !head || *head == index + 1; }
};

/// Throws unless weights fit their labels and every one of them is a number.
void check_view(const AttentionView& view);

/// The parts that are wanted; throws if a kind, layer or head is not there. They point into the
/// view.
std::vector<const AttentionPart*> choose_parts(const AttentionView& view,
                                               const AttentionSelection& selection);

}  // namespace heed::plot

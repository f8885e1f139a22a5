// The common part of the importers of encoders. A folder of one of these architectures is a
// sentence encoder, a classifier or a model of masked tokens, depending on its head.
#pragma once

#include <string_view>

#include "heed/models/importers/importer.h"
#include "heed/models/text_encoder.h"

namespace heed {

/// A family of encoders, as its importer has read it.
struct EncoderImport {
  TextEncoderConfig encoder;
  /// Of the parameters of all three kinds of model.
  TensorNames names;
  /// A tensor that only files with a head for masked tokens have.
  std::string_view masked_tensor;
  Activation masked_head = Activation::gelu;
  /// Of the dense layer between the state of the first token and the scores of classes.
  Activation classifier_head = Activation::tanh;
};

/// The model that a folder holds: a sentence encoder if it has the files of sentence-transformers
/// or no head, else what its "architectures" and its tensors say. Other heads throw heed::Error.
Import import_encoder(const ForeignConfig& config, const io::TensorSource& tensors,
                      EncoderImport family);

/// The layers of BERT and of the encoders built like it, by the keys that they share. Attention,
/// positions and types are BERT's; importers change what differs.
TextEncoderConfig import_bert_layers(const ForeignConfig& config);

/// Attention with three matrices as in the files, so that they can be used in place.
inline constexpr std::string_view kEncoderAttention = "multi_head joint=false";

/// Begins the names of the tensors of a dense layer of sentence-transformers, which are in a file
/// of their own.
inline constexpr std::string_view kDensePrefix = "sentence_transformers.dense.";
inline constexpr TensorRule kDenseRule = {"projection.{}", "sentence_transformers.dense.linear.{}"};
static_assert(kDenseRule.theirs.starts_with(kDensePrefix));

}  // namespace heed

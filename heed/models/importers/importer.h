// An architecture that heed reads from files of other programs: how its config becomes the config
// of one of heed's models, and the names of its tensors. One file per family of architectures;
// importers.h lists them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/tensor_source.h"
#include "heed/models/block.h"
#include "heed/models/importers/foreign_config.h"
#include "heed/models/importers/tensor_rules.h"
#include "heed/models/model_kind.h"

namespace heed {

/// A model of another program, described in heed's terms.
struct Import {
  ModelChoice model;
  TensorNames names;
  std::vector<std::string> labels = {};  ///< Of a classifier.
};

struct Importer {
  std::string_view model_type;  ///< As config.json has it.
  std::string_view what;        ///< Published models of this architecture, for documents.
  /// Reads the config. The tensors are there to see which of the optional parts a file has.
  Import (*read)(const ForeignConfig& config, const io::TensorSource& tensors);
};

/// The model with the weights of the files, ready for use (not for training); packed if there is a
/// form.
std::unique_ptr<Model> import_model(const Import& import, const io::TensorSource& tensors,
                                    std::optional<PackedForm> form = {});

/// A list without tensors: then the config alone says what a model is.
io::TensorSource no_tensors();

// ---- for importers ------------------------------------------------------------------------------

/// A kind of model with a config.
template <typename M>
ModelChoice import_choice(const ModelKind& kind, typename M::Config config) {
  return {kind, std::make_unique<ModelConfigOf<M>>(std::move(config))};
}

/// The activation of that name ("gelu_new", "silu", …) in a feed-forward network, gated or not;
/// `source` names the file in messages.
FeedForwardKind find_activation(std::string_view name, std::string_view source, bool gated = false);
/// The one that a config names.
FeedForwardKind import_activation(const ForeignConfig& config, const ForeignConfig::Keys& keys,
                                  std::string_view otherwise, bool gated = false);

/// The labels of a classifier (id2label), in the order of their numbers.
std::vector<std::string> import_labels(const ForeignConfig& config);

/// Throws unless a config describes an encoder with a decoder that writes text.
void expect_translator(const ForeignConfig& config);

}  // namespace heed

// Fine-tuning with adapters of low rank (LoRA, Hu et al. 2021): the matrices of a model stay as
// they are, and each chosen one gets a correction scale up down, with down [rank, in] and up [out,
// rank]. Only the corrections are trained, and the head of a classifier.
//
//   add_lora(model, {.rank = 8}, generator);  // up is 0 at first, so that results do not change
//   …
//   merge_lora(model);                        // W + scale up down
#pragma once

#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/io/fields.h"
#include "heed/nn/module.h"

namespace heed {

struct LoraConfig {
  std::int64_t rank = 0;  // 0: no adapters
  double alpha = 16.0;    // scale = alpha / rank
  /// Names of linear layers, where `*` stands for any text.
  std::vector<std::string> targets = {"*attn*"};
  /// Names of parameters that are trained as well: by default the head of a classifier, which may
  /// be a new one.
  std::vector<std::string> trained = {"dense.*", "scores.*"};

  void fields(io::Fields& field);
  void validate() const;
};

/// Gives an adapter (up = 0) to every linear layer whose name matches one of the targets, except
/// those whose matrix is tied to another (an output layer that shares the embeddings). Parameters
/// that `trained` names are copied, since those of an imported model cannot be written; all others
/// are frozen. Throws if no layer matches.
void add_lora(Module& model, const LoraConfig& config, Generator& generator);

/// Adds all adapters to their matrices and removes them; returns their number.
int merge_lora(Module& model);

/// Freezes the parameters whose names match one of the patterns. Throws for a pattern that matches
/// none, and if nothing is left to train.
void freeze_parameters(Module& model, const std::vector<std::string>& patterns);

}  // namespace heed

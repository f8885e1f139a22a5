// The buffers of a model, such as running averages, as they were before an update. Passes change
// them, and an update that is interrupted or skipped must leave no trace.
#pragma once

#include <vector>

#include "heed/nn/module.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

class SavedBuffers {
 public:
  explicit SavedBuffers(const Module& model) : buffers_(model.buffers()) {
    for (const NamedTensor& buffer : buffers_) saved_.push_back(empty_like(buffer.tensor));
  }
  /// Keeps the buffers as they are now.
  void save() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) copy_into(saved_[i], buffers_[i].tensor);
  }
  /// Makes them as they were at the last save().
  void restore() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) copy_into(buffers_[i].tensor, saved_[i]);
  }

 private:
  std::vector<NamedTensor> buffers_;
  std::vector<Tensor> saved_;
};

}  // namespace heed

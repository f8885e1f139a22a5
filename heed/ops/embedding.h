// Embedding lookup: rows of a table selected by token ids.
#pragma once

#include <optional>

#include "heed/tensor/tensor.h"

namespace heed {

/// Options of embedding.
struct EmbeddingOptions {
  std::optional<std::int64_t> padding_index = {};  // a row that gets no gradient
};

/// weight[ids]: weight [V, E], ids of any shape (i32 or i64), result [ids…, E].
Tensor embedding(const Tensor& weight, const Tensor& ids, const EmbeddingOptions& options = {});

}  // namespace heed

// The sizes that every model of pictures has in its config; they come from the data.
#pragma once

#include <string_view>

#include "heed/models/model_kind.h"

namespace heed {

struct PictureSizes {
  PictureSize picture = {};
  std::int64_t classes = 0;

  void fields(io::Fields& field);
  void set(const ModelSizes& sizes);
  /// Throws unless all sizes are known; `model` is the kind, for messages.
  void check(std::string_view model) const;
};

/// Throws unless x is [B, channels, height, width].
void check_pictures(std::string_view model, const PictureSize& size, const Tensor& x);

}  // namespace heed

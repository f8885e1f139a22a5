#include "heed/models/picture_sizes.h"

#include "heed/base/error.h"

namespace heed {

void PictureSizes::fields(io::Fields& field) {
  constexpr double kMaxSide = 1 << 15;
  field("channels", picture.channels, "channels of a picture; 0: as in the data",
        {.min = 0, .max = kMaxSide});
  field("height", picture.height, "pixels; 0: as in the data", {.min = 0, .max = kMaxSide});
  field("width", picture.width, "pixels; 0: as in the data", {.min = 0, .max = kMaxSide});
  field("classes", classes, "classes; 0: as in the data", {.min = 0});
}

void PictureSizes::set(const ModelSizes& sizes) {
  picture = sizes.picture;
  classes = sizes.classes;
}

void PictureSizes::check(std::string_view model) const {
  HEED_CHECK(picture.channels > 0 && picture.height > 0 && picture.width > 0 && classes > 0,
             "[{}] pictures of {} x {} x {} and {} classes: give all sizes", model,
             picture.channels, picture.height, picture.width, classes);
}

void check_pictures(std::string_view model, const PictureSize& size, const Tensor& x) {
  HEED_CHECK(x.rank() == 4 && x.size(1) == size.channels && x.size(2) == size.height &&
                 x.size(3) == size.width,
             "[{}] pictures {}: they must be [B, {}, {}, {}]", model, to_string(x.shape()),
             size.channels, size.height, size.width);
}

}  // namespace heed

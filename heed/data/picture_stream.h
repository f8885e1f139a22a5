// Batches of labelled pictures as numbers around 0, epoch after epoch. In training, pictures may be
// moved and mirrored at random; the draws are a function of seed, epoch and picture, so that a
// resumed run sees the same ones.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/epoch_stream.h"
#include "heed/data/picture_set.h"
#include "heed/io/fields.h"
#include "heed/pictures/picture_scale.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The mean and deviation of the channels of a set.
PictureScale scale_of(const PictureSet& set);

/// Random changes of pictures in training.
struct Augmentation {
  std::int64_t shift = 0;  // pixels that a picture is moved by, at most, in each direction
  bool flip = false;       // mirror half of the pictures

  void fields(io::Fields& field);
};

struct PictureBatch {
  Tensor pictures;  ///< f32 [B, C, H, W].
  Tensor labels;    ///< i64 [B].
};

/// A batch of the given pictures; without augmentation.
PictureBatch make_batch(const PictureSet& set, std::span<const std::int32_t> pictures,
                        const PictureScale& scale);

struct PictureStreamOptions {
  PictureScale scale = {};
  Augmentation augmentation = {};
  std::int64_t batch = 128;  // pictures
  std::uint64_t seed = 1;
};

/// An endless stream of batches in random order. The last batch of an epoch may be smaller.
class PictureStream : public EpochStream<PictureBatch> {
 public:
  PictureStream(std::shared_ptr<const PictureSet> set, const PictureStreamOptions& options,
                std::size_t ahead = 4);
};

}  // namespace heed

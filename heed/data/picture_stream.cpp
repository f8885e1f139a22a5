#include "heed/data/picture_stream.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/data/shuffle.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

PictureChange draw(const Augmentation& how, std::uint64_t seed, std::int64_t epoch,
                   std::int32_t picture) {
  constexpr std::int64_t kMostPictures = std::int64_t{1} << 32;
  const RandomStream random =
      data_stream(seed, DataPurpose::pictures, epoch * kMostPictures + picture);
  const auto range = static_cast<std::uint32_t>(2 * how.shift + 1);
  return {.down = random.below(0, range) - how.shift,
          .right = random.below(1, range) - how.shift,
          .mirrored = how.flip && random.below(2, 2) == 1};
}

// A batch; change_of(picture) says how each picture is changed.
template <typename ChangeOf>
PictureBatch batch_of(const PictureSet& set, std::span<const std::int32_t> pictures,
                      const PictureScale& scale, const ChangeOf& change_of) {
  const auto B = std::ssize(pictures);
  const PictureShape& shape = set.shape;
  PictureBatch batch{.pictures = empty({B, shape.channels, shape.height, shape.width}),
                     .labels = empty({B}, DType::i64)};
  float* const numbers = batch.pictures.mutable_data<float>();
  for (std::int64_t i = 0; i < B; ++i) {
    const std::int32_t picture = pictures[static_cast<std::size_t>(i)];
    write_numbers(set.picture(picture), shape, scale, change_of(picture),
                  numbers + i * shape.bytes());
    batch.labels.mutable_data<std::int64_t>()[i] = set.labels[static_cast<std::size_t>(picture)];
  }
  return batch;
}

BatchPlan plan_pictures(std::int64_t size, const PictureStreamOptions& options,
                        std::int64_t epoch) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, data_stream(options.seed, DataPurpose::pairs, epoch));
  BatchPlan plan;
  for (std::int64_t begin = 0; begin < size; begin += options.batch) {
    const std::int64_t count = std::min(options.batch, size - begin);
    plan.add(
        std::span(order).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)));
  }
  return plan;
}

EpochStream<PictureBatch>::Maker maker_of(std::shared_ptr<const PictureSet> set,
                                          const PictureStreamOptions& options) {
  HEED_CHECK(set->size() > 0, "[pictures] there are no pictures to train on");
  HEED_CHECK(options.batch > 0, "[pictures] batches of {} pictures: there must be at least 1",
             options.batch);
  return {.plan = [size = set->size(),
                   options](std::int64_t epoch) { return plan_pictures(size, options, epoch); },
          .make =
              [set = std::move(set), options](std::span<const std::int32_t> pictures,
                                              std::int64_t epoch) {
                return batch_of(*set, pictures, options.scale, [&](std::int32_t picture) {
                  return draw(options.augmentation, options.seed, epoch, picture);
                });
              }};
}

}  // namespace

void Augmentation::fields(io::Fields& field) {
  field("shift", shift, "pixels that a picture is moved by at random, at most",
        {.min = 0, .max = 1024});
  field("flip", flip, "mirror half of the pictures");
}

PictureScale scale_of(const PictureSet& set) {
  PictureScale scale;
  const auto count = static_cast<double>(set.size() * set.shape.places());
  for (std::int64_t c = 0; c < set.shape.channels; ++c) {
    std::int64_t sum = 0, squares = 0;  // exact
    for (std::int64_t i = 0; i < set.size(); ++i) {
      const auto plane = set.picture(i).subspan(static_cast<std::size_t>(c * set.shape.places()),
                                                static_cast<std::size_t>(set.shape.places()));
      for (const std::int64_t value : plane) {
        sum += value;
        squares += value * value;
      }
    }
    const double mean = static_cast<double>(sum) / count;
    const double variance = static_cast<double>(squares) / count - mean * mean;
    constexpr double kLeast = 1.0 / 255.0;  // of a channel that is the same everywhere
    scale.mean.push_back(mean / 255.0);
    scale.deviation.push_back(std::max(kLeast, std::sqrt(std::max(0.0, variance)) / 255.0));
  }
  return scale;
}

PictureBatch make_batch(const PictureSet& set, std::span<const std::int32_t> pictures,
                        const PictureScale& scale) {
  return batch_of(set, pictures, scale, [](std::int32_t) { return PictureChange{}; });
}

PictureStream::PictureStream(std::shared_ptr<const PictureSet> set,
                             const PictureStreamOptions& options, std::size_t ahead)
    : EpochStream(maker_of(std::move(set), options), ahead) {}

}  // namespace heed

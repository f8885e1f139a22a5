// Batches of pictures: every picture once an epoch, the same random changes after a seek.
#include "heed/data/picture_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/op_case.h"

namespace heed::picture_stream_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// Ten pictures of 4 x 4 pixels; picture i has label i and the pixels i * 16 + place.
std::shared_ptr<const PictureSet> numbered() {
  auto set = std::make_shared<PictureSet>();
  set->shape = {1, 4, 4};
  for (int i = 0; i < 10; ++i) {
    set->labels.push_back(i);
    set->names.push_back(std::to_string(i));
    for (int place = 0; place < 16; ++place) {
      set->bytes.push_back(static_cast<std::uint8_t>(i * 16 + place));
    }
  }
  return set;
}

PictureStreamOptions options_of(std::int64_t batch, const Augmentation& augmentation = {}) {
  return {.scale = {.mean = {0.0}, .deviation = {1.0 / 255.0}},
          .augmentation = augmentation,
          .batch = batch,
          .seed = 3};
}

TEST(PictureStream, GivesEveryPictureOnceAnEpoch) {
  PictureStream stream(numbered(), options_of(4));
  std::vector<std::vector<std::int64_t>> epochs(2);
  for (auto& epoch : epochs) {
    for (const std::int64_t size : {4, 4, 2}) {
      const PictureBatch batch = stream.next();
      ASSERT_EQ(batch.pictures.shape(), (Shape{size, 1, 4, 4}));
      const auto labels = batch.labels.to_vector<std::int64_t>();
      const auto numbers = batch.pictures.to_vector<float>();
      for (std::size_t i = 0; i < labels.size(); ++i) {
        EXPECT_FLOAT_EQ(numbers[16 * i + 5], static_cast<float>(labels[i] * 16 + 5));
        epoch.push_back(labels[i]);
      }
    }
    EXPECT_EQ(std::set<std::int64_t>(epoch.begin(), epoch.end()).size(), 10u);
  }
  EXPECT_NE(epochs[0], epochs[1]) << "another order";
}

TEST(PictureStream, ChangesAreDrawnFromThePosition) {
  const PictureStreamOptions options = options_of(5, {.shift = 2, .flip = true});
  PictureStream stream(numbered(), options), other(numbered(), options);
  for (int i = 0; i < 3; ++i) stream.next();
  const StreamPosition position = stream.position();
  const PictureBatch batch = stream.next();
  other.seek(position);
  EXPECT_TRUE(test::same_bits(other.next().pictures, batch.pictures));
  // Some pictures are moved or mirrored, and differently in the next epoch.
  PictureStream plain(numbered(), options_of(5));
  plain.seek(position);
  EXPECT_FALSE(test::same_bits(plain.next().pictures, batch.pictures));
}

TEST(PictureStream, ScaleIsThatOfTheSet) {
  auto set = std::make_shared<PictureSet>();
  set->shape = {2, 1, 2};
  set->bytes = {0, 255, 51, 51};
  set->labels = {0};
  set->names = {"one"};
  const PictureScale scale = scale_of(*set);
  EXPECT_THAT(scale.mean, ElementsAre(DoubleNear(0.5, 1e-12), DoubleNear(0.2, 1e-12)));
  EXPECT_THAT(scale.deviation, ElementsAre(DoubleNear(0.5, 1e-12), DoubleNear(1.0 / 255, 1e-12)))
      << "of a flat channel, one step of a byte";
}

}  // namespace
}  // namespace heed::picture_stream_test

// key_lengths: padding by length.
#include "heed/attention/masks.h"

#include "heed/attention/masks/interval.h"
#include "heed/base/arena_vector.h"
#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

class Prefix : public IntervalVisibility<Prefix> {
 public:
  explicit Prefix(const std::vector<std::int64_t>& lengths)
      : lengths_(lengths.begin(), lengths.end()) {}
  Interval interval(std::int64_t batch, std::int64_t) const {
    return {0, lengths_[static_cast<std::size_t>(batch)]};
  }

 private:
  ArenaVector<std::int64_t> lengths_;
};

class KeyLengths : public MaskImpl {
 public:
  explicit KeyLengths(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {}
  std::string name() const override { return "key_lengths"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    const auto count = static_cast<std::int64_t>(lengths_.size());
    HEED_CHECK(count == shape.B,
               "[attention] key_lengths has {} lengths, the batch {} sequences: give one for each",
               count, shape.B);
    for (std::int64_t b = 0; b < shape.B; ++b) {
      const std::int64_t length = lengths_[static_cast<std::size_t>(b)];
      HEED_CHECK(length >= 0 && length <= shape.keys(b),
                 "[attention] key_lengths[{}] is {}: it must be from 0 to {}, the number of keys",
                 b, length, shape.keys(b));
    }
    return std::make_unique<Prefix>(lengths_);
  }

 private:
  std::vector<std::int64_t> lengths_;
};

}  // namespace

Mask key_lengths(std::vector<std::int64_t> lengths) {
  return make_mask<KeyLengths>(std::move(lengths));
}

Mask key_lengths(const Tensor& lengths) {
  HEED_CHECK(lengths.rank() == 1, "[key_lengths] lengths {}: they must be [B]",
             to_string(lengths.shape()));
  return visit_index("key_lengths", lengths.dtype(), [&](auto zero) {
    const auto values = lengths.to_vector<decltype(zero)>();
    return key_lengths(std::vector<std::int64_t>(values.begin(), values.end()));
  });
}

}  // namespace heed

#include "heed/kernels/attention/parts.h"

namespace heed::kernels {
namespace {

// Keys, values and their gradients are four arrays: 512 KB, half of a typical L2.
constexpr std::int64_t kSpanBytes = 1 << 17;
// With fewer cells than this, heads are split.
constexpr std::int64_t kFewCells = 8;
// Each part packs all queries again, and its dq must be added to that of the others: at d = 128,
// parts of 512 keys cost 10 % (Zen 4).
constexpr std::int64_t kMinPartKeys = 2048;

}  // namespace

PartGrid::PartGrid(const AttentionShape& shape, std::size_t element_size) : shape_(shape) {
  const std::int64_t width = std::max<std::int64_t>({shape.D, shape.Dv, 1});
  const std::int64_t elements = kSpanBytes / static_cast<std::int64_t>(element_size);
  span_keys_ = std::clamp<std::int64_t>(elements / width / 128 * 128, 128, 512);
  const std::int64_t spans = (shape.Tk + span_keys_ - 1) / span_keys_;
  const std::int64_t heads = std::max<std::int64_t>(shape.B * shape.H, 1);
  const std::int64_t wanted = (kFewCells + heads - 1) / heads;
  const std::int64_t each = std::max(kMinPartKeys / span_keys_, (spans + wanted - 1) / wanted);
  part_keys_ = each * span_keys_;
  parts_ = std::max<std::int64_t>((shape.Tk + part_keys_ - 1) / part_keys_, 1);
  cells_ = shape.B * shape.H * parts_;
}

}  // namespace heed::kernels

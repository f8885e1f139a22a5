// Learned positions on a grid (Kitaev et al. 2020, Reformer): position l is in row l / columns and
// column l % columns; the first half of its code is the vector of the row, the second that of the
// column. Only about 2 sqrt(max_length) half vectors are learned.
#pragma once

#include "heed/attention/positions/added.h"

namespace heed {

/// Parameters "rows" [R, E/2] and "columns" [C, E - E/2]; R C is at least max_length.
class Axial : public AddedCode {
 public:
  /// Reads max_length and rows of the config, embed of the sizes.
  Axial(const PositionConfig& config, const PositionSizes& sizes,
        Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;

  Tensor rows;     // [R, E/2]
  Tensor columns;  // [C, E - E/2]

 private:
  Tensor codes(std::int64_t first, std::int64_t count, DType dtype) const override;
};

inline constexpr PositionKind kAxial = position_kind<Axial>(
    "axial",
    "x_l += [R_(l / columns), C_(l % columns)], learned on a grid of max_length cells; Kitaev et "
    "al. 2020, Reformer",
    PositionWay::embeddings);

}  // namespace heed

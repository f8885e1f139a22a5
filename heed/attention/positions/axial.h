// Learned positions on a grid (Kitaev et al. 2020, Reformer): position l is in row l / columns and
// column l % columns; the first half of its code (or row_features) is the vector of the row, the
// rest that of the column. Only about 2 sqrt(max_length) half vectors are learned.
#pragma once

#include "heed/attention/positions/added.h"

namespace heed {

/// Parameters "rows" [R, F] and "columns" [C, E - F], where F is row_features or E/2; R C is at
/// least max_length.
class Axial : public AddedCode {
 public:
  /// Reads max_length, rows and row_features of the config, embed of the sizes.
  Axial(const PositionConfig& config, const PositionSizes& sizes,
        Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;

  Tensor rows;     // [R, F]
  Tensor columns;  // [C, E - F]

 private:
  Tensor codes(std::int64_t first, std::int64_t count, DType dtype) const override;
};

inline constexpr PositionKind kAxial = position_kind<Axial>(
    "axial",
    "x_l += [R_(l / columns), C_(l % columns)], learned on a grid of max_length cells; Kitaev et "
    "al. 2020, Reformer",
    PositionWay::embeddings);

}  // namespace heed

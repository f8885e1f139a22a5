// Learned positions on a grid (Kitaev et al. 2020, Reformer): position l stands in row l / columns
// and column l % columns, and its code is half the row's vector, half the column's. Of max_length
// vectors, only about 2 sqrt(max_length) halves are learned.
#pragma once

#include "heed/attention/positions/added.h"

namespace heed {

/// Parameters "rows" [R, E/2] and "columns" [C, E - E/2]; R C is max_length, or the least above it.
class Axial : public AddedCode {
 public:
  /// Reads max_length and rows; embed.
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

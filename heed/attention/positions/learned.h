// A learned vector for each position, added to embeddings (Gehring et al. 2017). The table has
// max_length rows. The first position of a text has row `offset`, so that max_length - offset
// positions can be used: RoBERTa and BART have an offset of 2.
#pragma once

#include "heed/attention/positions/added.h"

namespace heed {

/// Parameter "weight" [max_length, E], initialised with standard deviation 0.02 as in GPT-2 and
/// BERT.
class Learned : public AddedCode {
 public:
  /// Reads max_length and offset of the config, embed of the sizes.
  Learned(const PositionConfig& config, const PositionSizes& sizes,
          Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override { visitor("weight", weight); }

  Tensor weight;  // [max_length, E]

 private:
  Tensor codes(std::int64_t first, std::int64_t count, DType dtype) const override;
};

inline constexpr PositionKind kLearned = position_kind<Learned>(
    "learned",
    "x_l += P_(l + offset), learned, max_length rows; Gehring et al. 2017, Convolutional Sequence "
    "to Sequence Learning",
    PositionWay::embeddings);

}  // namespace heed

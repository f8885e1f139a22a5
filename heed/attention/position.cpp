#include "heed/attention/position.h"

#include "heed/attention/find_by_name.h"
#include "heed/attention/positions/alibi.h"
#include "heed/attention/positions/axial.h"
#include "heed/attention/positions/circular.h"
#include "heed/attention/positions/learned.h"
#include "heed/attention/positions/rope.h"
#include "heed/attention/positions/shaw.h"
#include "heed/attention/positions/sine_code.h"
#include "heed/attention/positions/sine_relative.h"
#include "heed/attention/positions/sinusoidal.h"
#include "heed/attention/positions/t5.h"
#include "heed/base/error.h"

namespace heed {

void PositionConfig::fields(io::Fields& field) {
  field("name", name, "the position code; `heed list` shows all");
  field("max_length", max_length,
        "learned, axial, sine_code: number of positions; sine_relative: L of its formula; "
        "sinusoidal, rope: positions computed in advance",
        {.min = 1});
  field("offset", offset,
        "learned, sinusoidal: the first position of a text has this number; learned has max_length "
        "- offset positions",
        {.min = 0});
  field("base", base, "sinusoidal, rope: base of the wavelengths", {.min = 1});
  field("halves", halves,
        "sinusoidal: sines then cosines, not interleaved; rope: pairs (k, k + D/2)");
  field("inclusive", inclusive, "sinusoidal: frequencies base^(-k/(E/2 - 1)), to 1 / base");
  field("rotary_features", rotary_features,
        "rope: number of features of a head that are rotated, the first ones; 0: all", {.min = 0});
  field("scaling", scaling, "rope: factor by which texts are longer than in training",
        {.min = 1e-6});
  field("scaling_kind", scaling_kind,
        "rope: how angles change with scaling; linear: positions are divided by it");
  field("original_length", original_length,
        "rope: number of positions in training; every scaling_kind but linear needs it",
        {.min = 0});
  field("low_frequency_factor", low_frequency_factor,
        "rope, llama3: pairs with fewer periods in original_length are divided by scaling",
        {.min = 0});
  field("high_frequency_factor", high_frequency_factor,
        "rope, llama3: pairs with more periods in original_length stay as they are", {.min = 0});
  field("beta_fast", beta_fast,
        "rope, yarn: pairs with more periods in original_length stay as they are", {.min = 1e-6});
  field("beta_slow", beta_slow,
        "rope, yarn: pairs with fewer periods in original_length are divided by scaling",
        {.min = 1e-6});
  field("attention_factor", attention_factor,
        "rope, yarn: factor of queries and of keys; 0: 0.1 ln(scaling) + 1", {.min = 0});
  field("truncate", truncate, "rope, yarn: pairs at which blending begins and ends are integers");
  field("clip", clip, "shaw: larger distances share a vector", {.min = 0});
  field("period", period, "circular: number of positions of the ring", {.min = 1});
  field("buckets", buckets, "t5: number of buckets of distances", {.min = 2});
  field("max_distance", max_distance, "t5: larger distances share a bucket", {.min = 2});
  field("bidirectional", bidirectional, "t5: keys after the query have their own buckets");
  field("rows", rows, "axial: rows of the grid; 0: as many as columns", {.min = 0});
  field("row_features", row_features,
        "axial: features that are the row's, the first ones; 0: half of embed", {.min = 0});
}

Tensor Position::embed(const Tensor& x, FirstPositions) const { return x; }
Tensor Position::rotate(const Tensor& x, FirstPositions) const { return x; }
void Position::modify(AttentionSpec&, Corner) const {}

namespace {

constexpr PositionKind kNone = {"none", "no positions: attention treats the sequence as a set",
                                PositionWay::none,
                                [](const PositionConfig&, const PositionSizes&,
                                   Generator&) -> std::unique_ptr<Position> { return nullptr; }};

// One line each, those that belong together one after another.
// clang-format off
constinit const PositionKind kPositions[] = {
    kNone,
    kSinusoidal,
    kSineCode,
    kLearned,
    kAxial,
    kSineRelative,
    kShawRelative,
    kCircularRelative,
    kT5,
    kAlibi,
    kRope,
};
// clang-format on

}  // namespace

std::span<const PositionKind> positions() { return kPositions; }

const PositionKind& find_position(std::string_view name) {
  return find_by_name(positions(), name, "[position] there is no code");
}

std::unique_ptr<Position> make_position(const PositionConfig& config, const PositionSizes& sizes,
                                        Generator& generator) {
  return find_position(config.name).make(config, sizes, generator);
}

void check_position(std::string_view code, std::string_view what, std::int64_t value,
                    std::int64_t least) {
  HEED_CHECK(value >= least, "[{}] {} is {}: it must be at least {}", code, what, value, least);
}

}  // namespace heed

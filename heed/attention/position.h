// Position codes, which tell attention the positions of tokens: vectors added to embeddings,
// rotations of queries and keys, or stages that modify scores. positions/ has one file for each;
// the list of names is here.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "heed/attention/corner.h"
#include "heed/attention/first_positions.h"
#include "heed/attention/spec.h"
#include "heed/base/random.h"
#include "heed/io/fields.h"
#include "heed/nn/module.h"

namespace heed {

/// How the angles of rope are changed for texts longer than those of training. The formulas are in
/// positions/rope_angles.h.
enum class RopeScaling : std::uint8_t { linear, dynamic, llama3, yarn };

/// The names in configs.
constexpr std::array<io::EnumName<RopeScaling>, 4> enum_names(RopeScaling) {
  return {{{RopeScaling::linear, "linear"},
           {RopeScaling::dynamic, "dynamic"},
           {RopeScaling::llama3, "llama3"},
           {RopeScaling::yarn, "yarn"}}};
}

/// A position code by name, with the options of all codes; each code reads its own.
struct PositionConfig {
  std::string name = "none";
  std::int64_t max_length = 1024;    // learned, axial, sine_code: the limit; others: precomputed
  std::int64_t offset = 0;           // learned, sinusoidal: number of a text's first position
  double base = 10000.0;             // sinusoidal, rope: base of the wavelengths
  bool halves = false;               // sinusoidal, rope: sines then cosines, not interleaved
  bool inclusive = false;            // sinusoidal: the last frequency is 1 / base
  std::int64_t rotary_features = 0;  // rope: features of a head that are rotated; 0: all
  double scaling = 1.0;              // rope: factor by which texts are longer
  RopeScaling scaling_kind = RopeScaling::linear;
  std::int64_t original_length = 0;    // rope, scalings but linear: positions in training
  double low_frequency_factor = 1.0;   // llama3
  double high_frequency_factor = 4.0;  // llama3
  double beta_fast = 32.0;             // yarn
  double beta_slow = 1.0;              // yarn
  double attention_factor = 0.0;       // yarn; 0: 0.1 ln(scaling) + 1
  bool truncate = true;                // yarn
  std::int64_t clip = 16;              // shaw: larger distances share a vector
  std::int64_t period = 64;            // circular: positions of the ring
  std::int64_t buckets = 32;           // t5
  std::int64_t max_distance = 128;     // t5
  bool bidirectional = true;           // t5: keys after the query have their own buckets
  std::int64_t rows = 0;               // axial: rows of the grid; 0: as many as columns
  std::int64_t row_features = 0;       // axial: features of a row's vector; 0: half of embed

  void fields(io::Fields& field);
};

/// The sizes of the layer that uses the code.
struct PositionSizes {
  std::int64_t embed = 0;  // E
  std::int64_t heads = 0;  // H
  std::int64_t head = 0;   // D
};

/// A position code. Each code overrides the functions of its PositionWay; the others do nothing.
class Position : public Module {
 public:
  static constexpr std::int64_t kAnyLength = std::numeric_limits<std::int64_t>::max();

  /// The number of positions that the code supports.
  virtual std::int64_t length() const { return kAnyLength; }
  /// x [B, T, E] with the code added; `first` are the positions of x[:, 0].
  virtual Tensor embed(const Tensor& x, FirstPositions first = 0) const;
  /// Queries or keys [B, H, T, D] rotated by their positions, which begin at `first`.
  virtual Tensor rotate(const Tensor& x, FirstPositions first = 0) const;
  /// Adds the stages of the code to a spec.
  virtual void modify(AttentionSpec& spec, Corner corner) const;

  void visit(ParameterVisitor&) override {}
};

/// Which function of a code has an effect, and who calls it.
enum class PositionWay : std::uint8_t {
  none,
  embeddings,  ///< embed(): models call it once; attention layers ignore the code.
  heads,       ///< rotate(): attention layers call it.
  scores,      ///< modify(): attention layers call it.
};

/// One entry of the list of codes.
struct PositionKind {
  std::string_view name;
  std::string_view what;  ///< One line: formula and paper.
  PositionWay way;
  std::unique_ptr<Position> (*make)(const PositionConfig& config, const PositionSizes& sizes,
                                    Generator& generator);
};

/// The entry of a code's class, whose constructor takes config and sizes, and a generator if it has
/// parameters.
template <typename Code>
constexpr PositionKind position_kind(std::string_view name, std::string_view what,
                                     PositionWay way) {
  return {name, what, way,
          [](const PositionConfig& config, const PositionSizes& sizes,
             Generator& generator) -> std::unique_ptr<Position> {
            if constexpr (std::is_constructible_v<Code, const PositionConfig&, const PositionSizes&,
                                                  Generator&>) {
              return std::make_unique<Code>(config, sizes, generator);
            } else {
              return std::make_unique<Code>(config, sizes);
            }
          }};
}

/// All codes.
std::span<const PositionKind> positions();

/// Finds a code by name; the error for an unknown name suggests the nearest.
const PositionKind& find_position(std::string_view name);

/// Makes a code by name; null for "none". The error for an unknown name suggests the nearest.
std::unique_ptr<Position> make_position(const PositionConfig& config, const PositionSizes& sizes,
                                        Generator& generator = default_generator());

/// Throws unless a value that a code is made from (`embed` of PositionSizes, `clip` of
/// PositionConfig, …) is at least `least`.
void check_position(std::string_view code, std::string_view what, std::int64_t value,
                    std::int64_t least = 1);

}  // namespace heed

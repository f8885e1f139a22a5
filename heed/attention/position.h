// Where a position stands, told to attention: by what is added to embeddings, by turning queries
// and keys, or by stages of the scores. positions/ has the members; the list of names is here.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "heed/attention/corner.h"
#include "heed/attention/spec.h"
#include "heed/base/random.h"
#include "heed/io/fields.h"
#include "heed/nn/module.h"

namespace heed {

/// A position code by name, and what the codes can be told; each reads what concerns it.
struct PositionConfig {
  std::string name = "none";
  std::int64_t max_length = 1024;   // learned, axial, sine_code: positions there are; others: ready
  double base = 10000.0;            // sinusoidal, rope: of the wavelengths
  bool halves = false;              // sinusoidal, rope: sines then cosines, not interleaved
  double scaling = 1.0;             // rope: positions are divided by it
  std::int64_t clip = 16;           // shaw: distances beyond are alike
  std::int64_t buckets = 32;        // t5
  std::int64_t max_distance = 128;  // t5
  bool bidirectional = true;        // t5: keys behind the query have buckets of their own
  std::int64_t rows = 0;            // axial: of the grid; 0: as many as columns

  void fields(io::Fields& field);
};

/// The sizes of the layer that a code serves.
struct PositionSizes {
  std::int64_t embed = 0;  // E
  std::int64_t heads = 0;  // H
  std::int64_t head = 0;   // D
};

/// A position code; each of its ways does nothing unless the code goes that way.
class Position : public Module {
 public:
  static constexpr std::int64_t kAnyLength = std::numeric_limits<std::int64_t>::max();

  /// How many positions there are.
  virtual std::int64_t length() const { return kAnyLength; }
  /// What the code adds to x [B, T, E], whose first position is `first`.
  virtual Tensor embed(const Tensor& x, std::int64_t first = 0) const;
  /// Queries or keys [B, H, T, D] turned to their positions.
  virtual Tensor turn(const Tensor& x, std::int64_t first = 0) const;
  /// Adds stages to a call.
  virtual void modify(AttentionSpec& spec, Corner corner) const;

  void visit(ParameterVisitor&) override {}
};

/// The way a code goes, and so who must call it.
enum class PositionWay : std::uint8_t {
  nowhere,
  embeddings,  ///< embed(): models call it once; attention layers take no notice of it.
  heads,       ///< turn(): attention layers call it.
  scores,      ///< modify(): attention layers call it.
};

/// One code of the list.
struct PositionKind {
  std::string_view name;
  std::string_view what;  ///< One line: formula and paper.
  PositionWay way;
  std::unique_ptr<Position> (*make)(const PositionConfig& config, const PositionSizes& sizes,
                                    Generator& generator);
};

/// The entry of a code's class, which is made from config and sizes, and a generator if it learns.
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

/// By name; an unknown one is an error with the nearest.
const PositionKind& find_position(std::string_view name);

/// Makes a code by its name; null for "none". An unknown name is an error with the nearest one.
std::unique_ptr<Position> make_position(const PositionConfig& config, const PositionSizes& sizes,
                                        Generator& generator = default_generator());

/// Throws unless what a code is made from (PositionSizes' `embed`, PositionConfig's `clip`, …) is
/// at least that.
void check_position(std::string_view code, std::string_view what, std::int64_t value,
                    std::int64_t least = 1);

}  // namespace heed

// Where a position stands, told to attention: by what is added to embeddings, by turning queries
// and keys, or by stages of the scores. positions/ has the members; the list of names is here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heed/attention/corner.h"
#include "heed/attention/spec.h"
#include "heed/base/random.h"
#include "heed/io/fields.h"
#include "heed/nn/module.h"

namespace heed {

/// A position code by name, and what the codes can be told; each reads what concerns it.
struct PositionConfig {
  std::string name = "none";
  std::int64_t max_length = 1024;   // learned, sine_code, axial: positions there are
  double base = 10000.0;            // sinusoidal, rope: of the wavelengths
  bool halves = false;              // sinusoidal, rope: sines then cosines, not interleaved
  double scaling = 1.0;             // rope: positions are divided by it
  std::int64_t clip = 16;           // shaw: distances beyond are alike
  std::int64_t buckets = 32;        // t5
  std::int64_t max_distance = 128;  // t5
  bool bidirectional = true;        // t5: keys behind the query have buckets of their own

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
  /// What the code adds to x [B, T, E], whose first position is `first`.
  virtual Tensor embed(const Tensor& x, std::int64_t first = 0) const;
  /// Queries or keys [B, H, T, D] turned to their positions.
  virtual Tensor turn(const Tensor& x, std::int64_t first = 0) const;
  /// Adds stages to a call.
  virtual void modify(AttentionSpec& spec, Corner corner) const;

  void visit(ParameterVisitor&) override {}
};

/// One code of the list.
struct PositionKind {
  std::string_view name;
  std::string_view what;  ///< One line: formula and paper.
  std::unique_ptr<Position> (*make)(const PositionConfig& config, const PositionSizes& sizes,
                                    Generator& generator);
};

/// All codes.
std::span<const PositionKind> positions();

/// Makes a code by its name; null for "none". An unknown name is an error with the nearest one.
std::unique_ptr<Position> make_position(const PositionConfig& config, const PositionSizes& sizes,
                                        Generator& generator = default_generator());

}  // namespace heed

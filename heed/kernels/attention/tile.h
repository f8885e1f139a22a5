// What the stages of attention work on: a tile of scores or weights, the block of queries it
// belongs to, and the interface of a stage. A stage is called once per tile, never per element, so
// stages compose at run time while their loops stay compiled.
#pragma once

#include <cstdint>

#include "heed/base/arena_object.h"

namespace heed::kernels {

/// Scores (or weights, or their gradients) of a few keys against a block of queries, stored key by
/// key: neighbours in memory are neighbouring queries. Rows after `rows`, up to a whole vector,
/// exist and hold arbitrary numbers, finite or not; a stage may compute on them.
template <typename T>
struct Tile {
  T* data = nullptr;
  std::int64_t stride = 0;  ///< From one key to the next.
  std::int64_t batch = 0, head = 0;
  std::int64_t row = 0, col = 0;  ///< The first query and the first key, within their sequences.
  std::int64_t rows = 0, cols = 0;

  T* key(std::int64_t c) const { return data + c * stride; }
  T& at(std::int64_t c, std::int64_t r) const { return data[c * stride + r]; }
};

/// A block of queries while its tiles are processed. Everything is stored feature by feature, with
/// queries in the order of the tiles: x(feature, r) = x[feature * stride + r].
template <typename T>
struct RowBlock {
  std::int64_t batch = 0, head = 0, row = 0, rows = 0;
  std::int64_t stride = 0;
  std::int64_t features = 0;        ///< D.
  std::int64_t value_features = 0;  ///< Dv.
  const T* queries = nullptr;       ///< [D][stride]; multiplied by query_unit, they are scale * q.
  T query_unit = 1;
  T score_unit = 1;  ///< Tiles hold scores / score_unit; not 1 only if all modifiers are observers.
  const T* row_factors =
      nullptr;  ///< Forward, at the end: multiplied by these, the weights of a row sum to 1.
  T* output = nullptr;            ///< Forward: the sum of weights times values so far.
  const T* d_output = nullptr;    ///< Backward: the gradient of the output.
  T* d_scaled_queries = nullptr;  ///< Backward: the gradient of scale * q, to be added to.
};

/// Keys [col, col + cols) of one query.
struct RowPart {
  std::int64_t batch = 0, head = 0, row = 0, col = 0, cols = 0;
};

/// Memory that the driver provides for a stage.
template <typename T>
struct StageSpace {
  T* saved = nullptr;    ///< As large as the tile, with its stride; kept from forward to backward.
  T* block = nullptr;    ///< For one block of queries; kept from begin to end.
  T* sums = nullptr;     ///< For one cell of the grid, initially 0: partial gradients.
  std::int64_t row = 0;  ///< The first query of the block that the tile belongs to.
  std::int64_t stride = 0;  ///< The stride of that block.
};

/// The memory that a stage needs, in elements; `saved` is all or nothing.
struct StageNeeds {
  bool saved = false;
  std::int64_t block = 0;
  std::int64_t sums = 0;
};

/// The partial gradients of all cells of a backward pass, in order: for each batch, each head, each
/// of `parts` ranges of keys.
template <typename T>
struct StageSums {
  const T* data = nullptr;
  std::int64_t size = 0;  ///< Elements of one cell.
  std::int64_t batches = 0, heads = 0, parts = 0;

  const T* cell(std::int64_t batch, std::int64_t head, std::int64_t part) const {
    return data + ((batch * heads + head) * parts + part) * size;
  }
};

/// One stage on tiles: it changes scores before they are normalised, or weights after. A change of
/// weights must be linear. For each block of queries the driver calls begin, then forward for each
/// tile (and backward, in reverse order of stages, if gradients are wanted), then end; from several
/// threads at once.
template <typename T>
class TileStage : public ArenaObject {
 public:
  virtual ~TileStage() = default;

  /// `rows` is the stride of a RowBlock.
  virtual StageNeeds needs(std::int64_t rows, bool backward) const {
    static_cast<void>(rows), static_cast<void>(backward);
    return {};
  }
  virtual void begin(const RowBlock<T>& block, StageSpace<T> space) const {
    static_cast<void>(block), static_cast<void>(space);
  }
  /// Changes the tile in place; stores in space.saved what backward needs.
  virtual void forward(const Tile<T>& tile, StageSpace<T> space) const = 0;
  /// Turns the gradient of forward's result into that of forward's input, in place.
  virtual void backward(const Tile<T>& gradient, StageSpace<T> space) const = 0;
  /// Forward only: the weights of row r given so far are multiplied by factors[r].
  virtual void rescale(const T* factors, StageSpace<T> space) const {
    static_cast<void>(factors), static_cast<void>(space);
  }
  /// Called at the end where keys are processed in parts (kernels/attention/decode.h): the weights
  /// given in that part are multiplied by `factor`.
  virtual void close_part(const RowPart& part, T factor) const {
    static_cast<void>(part), static_cast<void>(factor);
  }
  /// True if the stage only copies weights out. Where weights are stored row by row
  /// (kernels/attention/decode.h), it is then given rows instead of tiles, by copy_row; begin,
  /// forward, rescale and end are not called.
  virtual bool copies_rows() const { return false; }
  virtual void copy_row(const RowPart& part, const T* weights) const {
    static_cast<void>(part), static_cast<void>(weights);
  }
  /// Called after the last tile of the block.
  virtual void end(const RowBlock<T>& block, StageSpace<T> space) const {
    static_cast<void>(block), static_cast<void>(space);
  }
  /// Called after the whole backward pass: adds up the sums of the cells.
  virtual void finish(const StageSums<T>& sums) const { static_cast<void>(sums); }
  /// True if several cells write to the same memory, so that they must do so in order.
  virtual bool in_turn() const { return false; }
};

}  // namespace heed::kernels

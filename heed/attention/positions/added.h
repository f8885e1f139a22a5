// The common base of codes that are added to embeddings: y_l = x_l + code(l).
#pragma once

#include <string_view>
#include <utility>

#include "heed/attention/position.h"
#include "heed/attention/positions/code_table.h"

namespace heed {

class AddedCode : public Position {
 public:
  /// [B, T, E]; throws if x does not have E features or a position is beyond the limit.
  Tensor embed(const Tensor& x, FirstPositions first = 0) const final;
  std::int64_t length() const final { return length_; }

 protected:
  /// A code of E features for positions [0, length); `name` is used in messages and must be a
  /// literal. Position 0 of a text has number `offset`.
  AddedCode(std::string_view name, std::int64_t embed, std::int64_t length,
            std::int64_t offset = 0);

 private:
  /// The codes with numbers [first, first + count): [count, E].
  virtual Tensor codes(std::int64_t first, std::int64_t count, DType dtype) const = 0;

  std::string_view name_;
  std::int64_t embed_, length_, offset_;
};

/// A code with fixed values, which are read from a table.
class AddedTable : public AddedCode {
 protected:
  /// `value` gives the code of a number; positions [0, ready) are computed in advance.
  AddedTable(std::string_view name, std::int64_t embed, std::int64_t length, std::int64_t ready,
             CodeTable::Value value, std::int64_t offset = 0)
      : AddedCode(name, embed, length, offset),
        table_(offset, offset + ready, embed, std::move(value)) {}

 private:
  Tensor codes(std::int64_t first, std::int64_t count, DType dtype) const final {
    return table_.rows(first, count, dtype);  // [count, E]
  }

  CodeTable table_;
};

}  // namespace heed

#include "heed/tensor/padding.h"

#include <algorithm>

#include "heed/tensor/create.h"

namespace heed {

PaddedRows pad_rows(std::span<const std::span<const std::int32_t>> rows, std::int32_t padding) {
  std::size_t longest = 0;
  for (const auto row : rows) longest = std::max(longest, row.size());
  const auto b = static_cast<std::int64_t>(rows.size());
  const auto t = static_cast<std::int64_t>(longest);
  PaddedRows padded{.tokens = empty({b, t}, DType::i64), .lengths = empty({b}, DType::i64)};
  std::int64_t* place = padded.tokens.mutable_data<std::int64_t>();
  std::int64_t* length = padded.lengths.mutable_data<std::int64_t>();
  for (const auto row : rows) {
    std::fill(std::copy(row.begin(), row.end(), place), place + t, padding);
    place += t;
    *length++ = static_cast<std::int64_t>(row.size());
    padded.total += static_cast<std::int64_t>(row.size());
  }
  return padded;
}

}  // namespace heed

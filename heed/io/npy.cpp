#include "heed/io/npy.h"

#include <fmt/format.h>

#include <bit>

#include "heed/base/error.h"

namespace heed::io {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

std::string npy_header(std::int64_t rows, std::int64_t columns) {
  constexpr std::size_t kMagic = 10, kSize = 128;  // 64 divides it, as the format wants
  std::string text =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  HEED_ASSERT(kMagic + text.size() < kSize);
  text.resize(kSize - kMagic - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size());  // two bytes, the low one first
  header += '\0';
  return header + text;
}

NpyFile::NpyFile(const std::filesystem::path& path, std::int64_t columns)
    : file_(path), columns_(columns) {
  file_.write(npy_header(0, columns_));
}

void NpyFile::write(std::span<const float> row) {
  HEED_CHECK(std::ssize(row) == columns_, "[npy] a row of {} numbers in a matrix of {} columns",
             row.size(), columns_);
  file_.write(std::as_bytes(row));
  ++rows_;
}

void NpyFile::commit() {
  file_.rewrite(0, npy_header(rows_, columns_));
  file_.commit();
}

}  // namespace heed::io

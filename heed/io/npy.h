// Matrices as NumPy files (.npy), written row by row: for other programs to read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "heed/io/file.h"

namespace heed::io {

/// A matrix of f32 whose number of rows is known at the end. The file appears complete or not at
/// all.
class NpyFile {
 public:
  NpyFile(const std::filesystem::path& path, std::int64_t columns);

  /// Appends a row.
  void write(std::span<const float> row);
  /// Completes the file, which then appears under its name.
  void commit();

 private:
  AtomicFile file_;
  std::int64_t columns_, rows_ = 0;
};

/// The header of a matrix of f32, with a size that does not depend on the number of rows.
std::string npy_header(std::int64_t rows, std::int64_t columns);

}  // namespace heed::io

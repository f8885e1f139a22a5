// The files that scores are made of: translations and references, a sentence a line, plain or gzip.
// White space at the end of a line is dropped, as sacreBLEU does; text that is not UTF-8 is
// refused, since no two programs would agree on its score.
#pragma once

#include <filesystem>
#include <vector>

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

/// The lines of a file; "-" is standard input.
Lines read_lines(const std::filesystem::path& path);

/// The columns of a file of `columns` tab-separated fields; tabs beyond them belong to the last
/// one.
std::vector<Lines> read_columns(const std::filesystem::path& path, std::size_t columns);

/// The columns of a file that has as many as its first line has.
std::vector<Lines> read_columns(const std::filesystem::path& path);

}  // namespace heed::evaluation

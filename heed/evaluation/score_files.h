// Reads translations and references, one sentence per line, plain or gzip. White space at the end
// of a line is dropped, as in sacreBLEU. Text that is not UTF-8 is an error, because programs would
// not agree on its score.
#pragma once

#include <filesystem>
#include <vector>

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

/// The lines of a file; "-" is standard input.
Lines read_lines(const std::filesystem::path& path);

/// The columns of a file with `columns` tab-separated fields; further tabs belong to the last one.
std::vector<Lines> read_columns(const std::filesystem::path& path, std::size_t columns);

/// The columns of a file; its first line determines their number.
std::vector<Lines> read_columns(const std::filesystem::path& path);

}  // namespace heed::evaluation

// A filter of lines over several ranks. The input is cut into blocks of lines, which the ranks take
// in turn. The result of a block is a file in the folder OUTPUT.parts; at the end rank 0 joins them
// in order. A run that was ended goes on with the blocks that are missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "cli/filter_io.h"
#include "heed/distributed/communicator.h"

namespace heed::cli {

struct RankedFilter {
  FilterFlags files;
  std::string identity;  ///< All that determines the results; parts of another one are removed.
  std::int64_t block = 2048;  ///< Lines.
  /// Filters the lines of a block, of which the first has this number, from 0: next() gives the
  /// next one, false at the end; write() takes results in order.
  std::function<void(std::int64_t first, const std::function<bool(std::string& line)>& next,
                     const std::function<void(std::string_view)>& write)>
      run;
};

/// Runs it; the output then has the results of all lines in order.
void run_ranked_filter(Communicator& ranks, const RankedFilter& filter);

}  // namespace heed::cli

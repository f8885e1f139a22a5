// What a comparison of layers says, as tables, as JSON and as a picture.
#pragma once

#include <string>
#include <vector>

#include "heed/plot/table.h"
#include "heed/study/comparison.h"

namespace heed::plot {

/// Formulas, counted paths, fitted growth, times, crossovers.
std::vector<Table> comparison_tables(const Comparison& comparison);

/// Every number.
std::string comparison_json(const Comparison& comparison);

/// Time, memory and operations against n and d, paths against n, crossovers against d.
std::string comparison_svg(const Comparison& comparison);

/// What was measured: "batch 1, f32, forward, 2 threads".
std::string comparison_conditions(const Comparison& comparison);

}  // namespace heed::plot

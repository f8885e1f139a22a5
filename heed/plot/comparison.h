// The results of a comparison of layers as tables, JSON and a picture.
#pragma once

#include <string>
#include <vector>

#include "heed/plot/table.h"
#include "heed/study/comparison.h"

namespace heed::plot {

/// Tables of formulas, counted paths, fitted growth, times and crossovers.
std::vector<Table> comparison_tables(const Comparison& comparison);

/// All numbers as JSON.
std::string comparison_json(const Comparison& comparison);

/// Charts of time, memory and operations against n and d, paths against n, crossovers against d.
std::string comparison_svg(const Comparison& comparison);

/// The conditions of the measurement: "batch 1, f32, forward, 2 threads".
std::string comparison_conditions(const Comparison& comparison);

}  // namespace heed::plot

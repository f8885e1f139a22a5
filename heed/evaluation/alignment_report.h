// Reports of an alignment score, in the style of report.h.
#pragma once

#include <string>

#include "heed/evaluation/alignment.h"

namespace heed::evaluation {

/// "AER = 27.3 (precision = 70.1 recall = 75.9 links = 912 sure = 840 possible = 1033)", in
/// percent.
std::string report_line(const AlignmentScore& score, int digits);

/// A JSON object, followed by a line end.
std::string report_json(const AlignmentScore& score, int digits);

}  // namespace heed::evaluation

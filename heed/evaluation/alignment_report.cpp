#include "heed/evaluation/alignment_report.h"

#include <fmt/format.h>

#include "heed/evaluation/python_format.h"

namespace heed::evaluation {

std::string report_line(const AlignmentScore& score, int digits) {
  return fmt::format("AER = {} (precision = {} recall = {} links = {} sure = {} possible = {})",
                     fixed(100 * score.error_rate, digits), fixed(100 * score.precision, digits),
                     fixed(100 * score.recall, digits), score.links, score.sure, score.possible);
}

std::string report_json(const AlignmentScore& score, int digits) {
  return fmt::format(
      "{{\n \"name\": \"AER\",\n \"score\": {},\n \"precision\": {},\n \"recall\": {},\n"
      " \"links\": {},\n \"sure\": {},\n \"possible\": {}\n}}\n",
      fixed(100 * score.error_rate, digits), fixed(100 * score.precision, digits),
      fixed(100 * score.recall, digits), score.links, score.sure, score.possible);
}

}  // namespace heed::evaluation

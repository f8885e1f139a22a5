#include "heed/training/report_tree.h"

#include <utility>

namespace heed {

io::Value::Table tree_of(const ValidationReport& report) {
  io::Value::Table metrics;
  for (const Judgement& judgement : report.judgements) {
    metrics.push_back({judgement.name, {judgement.value}});
  }
  return {{"update", {report.update}},       {"epoch", {report.epoch}},
          {"metrics", {std::move(metrics)}}, {"best", {report.best}},
          {"stalled", {report.stalled}},     {"seconds", {report.seconds}}};
}

}  // namespace heed

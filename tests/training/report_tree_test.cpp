#include "heed/training/report_tree.h"

#include <gtest/gtest.h>

#include "heed/io/json.h"

namespace heed {
namespace {

TEST(ReportTree, OfAValidation) {
  const ValidationReport report{.update = 7,
                                .epoch = 1.5,
                                .judgements = {{"loss", 2.25}, {"perplexity", 9.5}},
                                .best = true,
                                .stalled = 2,
                                .seconds = 0.5};
  EXPECT_EQ(io::write_json({tree_of(report)}, false),
            R"({"update":7,"epoch":1.5,"metrics":{"loss":2.25,"perplexity":9.5},)"
            R"("best":true,"stalled":2,"seconds":0.5})");
}

}  // namespace
}  // namespace heed

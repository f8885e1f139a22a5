#include "heed/serve/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::serve {
namespace {

using testing::HasSubstr;

TEST(Metrics, HistogramsAreCumulative) {
  Histogram histogram({1, 2});
  for (const double value : {0.5, 1.0, 1.5, 9.0}) histogram.add(value);
  EXPECT_EQ(histogram.lines("h", ""),
            "h_bucket{le=\"1\"} 2\nh_bucket{le=\"2\"} 3\nh_bucket{le=\"+Inf\"} 4\nh_sum 12\n"
            "h_count 4\n");
  EXPECT_THAT(histogram.lines("h", "path=\"/\""), HasSubstr("h_bucket{path=\"/\",le=\"1\"} 2"));
}

TEST(Metrics, HaveAllThatWasCounted) {
  Metrics metrics;
  metrics.answered("/translate", 200, 0.02);
  metrics.answered("/translate", 200, 0.2);
  metrics.refused("queue");
  metrics.add_tokens("m", 10, 5);
  metrics.add_batch("m", 3);
  metrics.connections = 4;
  const std::string text = metrics.text({{.name = "m", .waiting = 7, .running = 2}});
  for (const char* const line :
       {"heed_requests_total{path=\"/translate\",status=\"200\"} 2\n",
        "heed_request_seconds_bucket{path=\"/translate\",le=\"0.025\"} 1\n",
        "heed_refusals_total{cause=\"queue\"} 1\n",
        "heed_tokens_total{model=\"m\",kind=\"written\"} 5\n", "heed_queue_length{model=\"m\"} 7\n",
        "heed_running{model=\"m\"} 2\n", "heed_connections 4\n",
        "heed_batch_requests_bucket{model=\"m\",le=\"4\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace heed::serve

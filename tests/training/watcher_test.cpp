#include "heed/training/watcher.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed {
namespace {

struct Count : TrainingWatcher {
  void began(std::int64_t update) override { sum += 1 + update; }
  void updated(const UpdateReport&) override { sum += 100; }
  void validating() override { sum += 1000; }
  void validated(const ValidationReport&) override { sum += 10000; }
  void saved(const std::filesystem::path&) override { sum += 100000; }
  std::int64_t sum = 0;
};

TEST(TrainingWatchers, AllAreTold) {
  Count one, two;
  TrainingWatchers both;
  both.add(one);
  both.add(two);
  both.began(7);
  both.updated({});
  both.validating();
  both.validated({});
  both.saved("x");
  EXPECT_EQ(one.sum, 111108);
  EXPECT_EQ(two.sum, 111108);
}

TEST(UpdateWindow, MeansAndWhatIsSkipped) {
  UpdateWindow window;
  EXPECT_TRUE(window.empty());
  window.add({.loss = 1,
              .negative_log_likelihood = 0,
              .source_tokens = 10,
              .target_tokens = 30,
              .seconds = 1});
  window.add({.loss = std::nan(""), .target_tokens = 999, .seconds = 9, .skipped = true});
  window.add({.loss = 3,
              .negative_log_likelihood = 2,
              .source_tokens = 20,
              .target_tokens = 10,
              .seconds = 1});
  EXPECT_FALSE(window.empty());
  const UpdateWindow::Mean mean = window.take();
  EXPECT_EQ(mean.loss, 2.0);
  EXPECT_EQ(mean.perplexity, std::exp(1.0));
  EXPECT_EQ(mean.source_rate, 15.0);
  EXPECT_EQ(mean.target_rate, 20.0);
  EXPECT_EQ(mean.skipped, 1);
  EXPECT_TRUE(window.empty());
  window.add({.loss = 5});
  EXPECT_EQ(window.mean().loss, 5.0);
  EXPECT_EQ(window.mean().skipped, 0);
}

}  // namespace
}  // namespace heed

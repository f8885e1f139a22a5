// Schedules against the reference formulas, their ends, and configs of them.
#include "heed/training/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"

namespace heed {
namespace {

using testing::HasSubstr;

ScheduleConfig config_of(Schedule kind, const test::Golden& g) {
  ScheduleConfig config{.kind = kind, .warmup = 0};
  const auto take = [&](const char* key, auto& member) {
    using T = std::remove_reference_t<decltype(member)>;
    if (g.metadata.contains(key)) member = static_cast<T>(g.number(key));
  };
  take("lr", config.peak);
  take("init_lr", config.start);
  take("min_lr", config.min);
  take("warmup", config.warmup);
  take("total", config.total);
  take("factor", config.factor);
  take("d_model", config.model_size);
  return config;
}

TEST(Schedule, Golden) {
  const std::pair<const char*, Schedule> goldens[] = {
      {"schedule_constant", Schedule::constant},
      {"schedule_constant_warmup", Schedule::constant},
      {"schedule_inverse_sqrt", Schedule::inverse_sqrt},
      {"schedule_noam", Schedule::noam},
      {"schedule_cosine", Schedule::cosine},
      {"schedule_linear", Schedule::linear}};
  for (const auto& [name, kind] : goldens) {
    const test::Golden golden = test::load_golden(name);
    const ScheduleConfig config = config_of(kind, golden);
    const auto steps = golden["step"].values<std::int64_t>();
    const auto rates = golden.tensors.at("out.lr").values<float>();
    ASSERT_GE(steps.size(), 70u);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_FLOAT_EQ(static_cast<float>(rate(config, steps[i])), rates[i])
          << name << ", step " << steps[i];
    }
  }
}

TEST(Schedule, WithoutWarmup) {
  EXPECT_DOUBLE_EQ(rate({.kind = Schedule::linear, .peak = 1.0, .warmup = 0, .total = 10}, 5), 0.5);
  EXPECT_DOUBLE_EQ(rate({.kind = Schedule::inverse_sqrt, .peak = 1.0, .warmup = 0}, 4), 0.5);
  EXPECT_DOUBLE_EQ(rate({.kind = Schedule::constant, .peak = 1.0, .warmup = 0}, 1), 1.0);
}

TEST(Schedule, LinearEndsAtMin) {
  const ScheduleConfig config{
      .kind = Schedule::linear, .peak = 1.0, .min = 0.25, .warmup = 0, .total = 10};
  EXPECT_DOUBLE_EQ(rate(config, 10), 0.25);
  EXPECT_DOUBLE_EQ(rate(config, 1000), 0.25);
}

TEST(Schedule, RefusesWhatDoesNotFit) {
  EXPECT_THAT(error_message([] { rate({}, 0); }), HasSubstr("updates count from 1"));
  EXPECT_THAT(error_message([] { rate({.kind = Schedule::cosine, .warmup = 5, .total = 5}, 1); }),
              HasSubstr("total 5 is not beyond warmup 5"));
  EXPECT_THAT(error_message([] { rate({.kind = Schedule::cosine, .peak = 1.0, .min = 2.0}, 1); }),
              HasSubstr("min 2 is above peak 1"));
  EXPECT_THAT(error_message([] { rate({.peak = 1.0, .start = 2.0}, 1); }),
              HasSubstr("start 2 is above peak 1"));
  EXPECT_THAT(error_message([] { rate({.kind = Schedule::noam, .warmup = 0}, 1); }),
              HasSubstr("noam needs a warmup"));
  EXPECT_THAT(error_message([] { rate({.warmup = -1}, 1); }), HasSubstr("warmup -1"));
}

TEST(Schedule, FromToml) {
  ScheduleConfig config;
  io::load_toml("kind = 'cosine'\npeak = 0.001\nwarmup = 100\ntotal = 5000", config);
  EXPECT_EQ(config.kind, Schedule::cosine);
  EXPECT_EQ(config.total, 5000);
  EXPECT_THAT(error_message([&] { io::load_toml("kind = 'cosin'", config); }), HasSubstr("cosine"));
  EXPECT_THAT(error_message([&] { io::load_toml("warmup = 6000", config); }),
              HasSubstr("not beyond warmup"));
}

}  // namespace
}  // namespace heed

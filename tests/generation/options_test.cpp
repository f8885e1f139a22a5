// Options of searches: the formulae of lengths, configs, and what is refused.
#include "heed/generation/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/io/config.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(SearchOptions, LengthPenalties) {
  EXPECT_EQ(length_divisor({.length_penalty = 0.0}, 7), 1.0);
  EXPECT_EQ(length_divisor({.length_penalty = 1.0}, 7), 7.0);
  EXPECT_DOUBLE_EQ(length_divisor({.length_penalty = 0.5}, 9), 3.0);
  const SearchOptions gnmt{.length_penalty = 0.6, .length_penalty_form = LengthPenalty::gnmt};
  EXPECT_EQ(length_divisor(gnmt, 1), 1.0);
  EXPECT_DOUBLE_EQ(length_divisor(gnmt, 7), std::pow(2.0, 0.6));
}

TEST(SearchOptions, TheLongestResult) {
  const SearchOptions options{.max_length = 50, .max_length_ratio = 1.2, .max_length_extra = 10};
  EXPECT_EQ(longest_result(options, 0), 10);
  EXPECT_EQ(longest_result(options, 7), 18);  // 18.4
  EXPECT_EQ(longest_result(options, 1000), 50);
  EXPECT_EQ(longest_result(options, std::nullopt), 50);
  EXPECT_EQ(longest_result({.max_length = 50, .max_length_ratio = 1e300}, 1000), 50);
  EXPECT_EQ(longest_result({.max_length_ratio = 0, .max_length_extra = 0}, 9), 0);
}

TEST(SearchOptions, AreAConfig) {
  SearchOptions options;
  io::load_toml("beam_size = 12\nlength_penalty_form = \"gnmt\"\nstopping = \"first\"\nn_best = 12",
                options);
  EXPECT_EQ(options.beam_size, 12);
  EXPECT_EQ(options.length_penalty_form, LengthPenalty::gnmt);
  EXPECT_EQ(options.stopping, Stopping::first);
  io::set_fields(options, {"method=sample", "top-p=0.9", "cache=int8"});
  EXPECT_EQ(options.method, SearchMethod::sample);
  EXPECT_EQ(options.top_p, 0.9);
  EXPECT_EQ(options.cache, CacheForm::int8);
  EXPECT_THAT(error_message([&] { io::set_fields(options, {"beam_sise=3"}); }),
              HasSubstr("beam_size"));
  EXPECT_EQ(io::list_fields(SearchOptions()).size(), 21u);  // every member has a name
}

TEST(SearchOptions, WhatIsRefused) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const std::pair<SearchOptions, const char*> cases[] = {
      {{.beam_size = 0}, "beam_size is 0: it must be from 1 to 1000"},
      {{.beam_size = kHuge}, "beam_size is 9223372036854775807: it must be from 1 to 1000"},
      {{.n_best = 0}, "n_best is 0"},
      {{.method = SearchMethod::sample, .n_best = kHuge}, "n_best is 9223372036854775807"},
      {{.beam_size = 3, .n_best = 4}, "n_best 4 is more than beam_size 3"},
      {{.length_penalty = -0.1}, "length_penalty is -0.1: it must be from 0 to 10"},
      {{.length_penalty = NAN}, "length_penalty is not a finite number: it must be from 0 to 10"},
      {{.min_length = -1}, "min_length is -1"},
      {{.min_length = 5, .max_length = 4}, "min_length 5 and max_length 4"},
      {{.max_length_ratio = -1}, "max_length_ratio is -1"},
      {{.max_length_ratio = INFINITY}, "max_length_ratio is not a finite number"},
      {{.max_length_extra = NAN}, "max_length_extra is not a finite number"},
      {{.no_repeat_ngram = -2}, "no_repeat_ngram is -2"},
      {{.temperature = 0}, "temperature is 0: it must be from 1e-30 to 1e+30"},
      {{.temperature = 1e-39}, "temperature is 1e-39: it must be from 1e-30 to 1e+30"},
      {{.temperature = INFINITY}, "temperature is not a finite number"},
      {{.top_k = -1}, "top_k is -1"},
      {{.top_p = 0}, "top_p is 0"},
      {{.top_p = 1.5}, "top_p is 1.5: it must be from 0 to 1"},
      {{.min_p = -0.1}, "min_p is -0.1: it must be from 0 to 1"},
      {{.repetition_penalty = 0}, "repetition_penalty is 0: it must be from 0.01 to 100"},
      {{.presence_penalty = NAN}, "presence_penalty is not a finite number"},
      {{.frequency_penalty = 101}, "frequency_penalty is 101: it must be from -100 to 100"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_THAT(error_message([&, &options = options] { options.validate(); }), HasSubstr(message));
  }
  EXPECT_NO_THROW((SearchOptions{.method = SearchMethod::sample, .n_best = 100}.validate()));
  EXPECT_NO_THROW((SearchOptions{.max_length = kHuge}.validate()));
  EXPECT_NO_THROW((SearchOptions{.seed = std::numeric_limits<std::uint64_t>::max()}.validate()));
}

}  // namespace
}  // namespace heed

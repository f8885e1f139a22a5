// Results in the order of the requests; translation_filter_test.cpp and generation_filter_test.cpp
// have the results themselves.
#include "heed/generation/request_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"

namespace heed::request_filter_test {
namespace {

struct Case {
  Request request(std::int64_t letters) const {
    return translator.request_of(
        {.tokens = translator.read(std::string(static_cast<std::size_t>(letters), 'a'))}, plan);
  }
  Translator translator = test::tiny_translator(test::letters(), test::letters());
  std::shared_ptr<const SearchPlan> plan = translator.plan({.search = {.beam_size = 1}});
  std::unique_ptr<SequenceModel> model = translator.sequences({});
};

TEST(RequestFilter, PassesOnInOrder) {
  const Case c;
  for (const std::int64_t window : {1, 2, 7, 40, 1000}) {
    std::vector<std::int64_t> numbers;
    std::int64_t known = 0;
    RequestFilter filter(*c.model, {}, {.window = window, .batch_sentences = 4},
                         [&](std::int64_t number, const NBest& found) {
                           numbers.push_back(number);
                           if (found.empty()) ++known;
                         });
    for (std::int64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(filter.next(), i);
      i % 10 == 3 ? filter.add_known({}) : filter.add(c.request(1 + i * 7 % 20));
    }
    filter.flush();
    ASSERT_EQ(numbers.size(), 100u);
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(known, 10);
  }
}

TEST(RequestFilter, ALargeWindowIsRefilledWhenHalfOfItIsDone) {
  const Case c;
  std::int64_t answers = 0;
  RequestFilter filter(*c.model, {}, {.window = 40, .batch_sentences = 4},
                       [&](std::int64_t, const NBest&) { ++answers; });
  for (std::int64_t i = 0; i < 60; ++i) filter.add(c.request(5));
  EXPECT_GT(answers, 0);
  EXPECT_LT(answers, 60);
  filter.flush();
  EXPECT_EQ(answers, 60);
  EXPECT_GT(filter.statistics().steps, 0);
}

TEST(RequestFilter, ErrorsOfWhoReceivesPassThrough) {
  const Case c;
  RequestFilter filter(*c.model, {}, {.window = 5}, [](std::int64_t number, const NBest&) {
    if (number == 2) throw Error("the pipe is closed");
  });
  EXPECT_EQ(error_message([&] {
              for (int i = 0; i < 5; ++i) filter.add(c.request(3));
            }),
            "the pipe is closed");
}

}  // namespace
}  // namespace heed::request_filter_test

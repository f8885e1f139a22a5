// One batch: who joins it, and when.
#include "heed/generation/step_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <new>

#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"

namespace heed::step_loop_test {
namespace {

constexpr std::int64_t kTokens = 1000;

Request request_of(const Translator& translator, std::int64_t max_length) {
  return translator.request_of(
      {.tokens = translator.read("abc")},
      translator.plan(
          {.search = {.beam_size = 1, .min_length = max_length, .max_length = max_length}}));
}

struct Case {
  Translator translator = test::tiny_translator(test::letters(), test::letters());
  std::unique_ptr<SequenceModel> model = translator.sequences({});
  RequestQueue queue{{.bytes = 1 << 30}};
  StepLoop loop{*model, queue};
};

TEST(StepLoop, RequestsJoinInGroupsWhenThereIsRoom) {
  Case c;
  for (int i = 0; i < 40; ++i) c.queue.add(request_of(c.translator, i < 3 ? 2 : 9), 0);
  c.loop.admit(32, kTokens);
  EXPECT_EQ(c.loop.sentences(), 32);
  for (int i = 0; i < 3; ++i) c.loop.step();  // three end
  EXPECT_EQ(c.loop.sentences(), 29);
  c.loop.admit(32, kTokens);
  EXPECT_EQ(c.loop.sentences(), 29) << "a group is an eighth of a batch";
  c.loop.admit(33, kTokens);
  EXPECT_EQ(c.loop.sentences(), 33);
  EXPECT_EQ(c.queue.waiting(), 4);
  c.loop.admit(37, kTokens);
  EXPECT_EQ(c.queue.waiting(), 0) << "or all that wait";
  while (c.loop.sentences() > 0) c.loop.step();
  EXPECT_EQ(c.queue.unfinished(), 0);
  EXPECT_EQ(c.loop.statistics().starts, 3);
}

// A model that starts sequences in another way.
struct OtherStart : SequenceModel {
  OtherStart(const SequenceModel& model, std::function<StartedSequences()> how)
      : inner(model), start_one(std::move(how)) {}
  StartedSequences start(std::span<const Source>) const override { return start_one(); }
  bool starts_together() const override { return true; }
  const OutputLayer& output_layer() const override { return inner.output_layer(); }
  std::int64_t cache_bytes(std::int64_t, std::int64_t) const override { return 0; }
  std::int64_t max_source() const override { return 9; }
  std::int64_t max_positions() const override { return 9; }
  ObservedWeights observed() const override { return ObservedWeights::all; }
  const SequenceModel& inner;
  std::function<StartedSequences()> start_one;
};

// Admits a request and makes a step; the error that the request ends with.
std::exception_ptr error_of(Case& c, const SequenceModel& model) {
  StepLoop loop(model, c.queue);
  std::exception_ptr found;
  Request request = request_of(c.translator, 3);
  request.on_done = [&](const NBest&, const std::exception_ptr& error) { found = error; };
  c.queue.add(std::move(request), 0);
  loop.admit(4, kTokens);
  loop.step();
  EXPECT_EQ(loop.sentences(), 0);
  EXPECT_EQ(c.queue.unfinished(), 0);
  return found;
}

TEST(StepLoop, AnErrorOfTheModelEndsItsRequests) {
  Case c;
  const OtherStart broken(*c.model, []() -> StartedSequences { throw Error("no model"); });
  const std::exception_ptr error = error_of(c, broken);
  EXPECT_EQ(error_message([&] { std::rethrow_exception(error); }), "no model");
}

TEST(StepLoop, ALackOfMemoryEndsRequestsThatJoin) {
  struct Full : Decoding {
    Tensor step(const Tensor&) override { throw std::bad_alloc(); }
    void reorder(std::span<const std::int64_t>) override {}
    void observe(std::vector<LayerWeights>&, ObservedWeights) override { throw std::bad_alloc(); }
  };
  Case c;
  const OtherStart full(*c.model,
                        [] { return StartedSequences{.decoding = std::make_unique<Full>()}; });
  const std::exception_ptr error = error_of(c, full);
  ASSERT_TRUE(error) << "nobody waits for ever";
  EXPECT_THROW(std::rethrow_exception(error), std::bad_alloc);
}

TEST(StepLoop, WhatIsNotDoneIsCancelledWithIt) {
  Case c;
  int cancelled = 0;
  {
    StepLoop loop(*c.model, c.queue);
    for (int i = 0; i < 2; ++i) {
      Request request = request_of(c.translator, 9);
      request.on_done = [&](const NBest&, const std::exception_ptr& error) {
        EXPECT_THROW(std::rethrow_exception(error), Cancelled);
        ++cancelled;
      };
      c.queue.add(std::move(request), 0);
    }
    loop.admit(1, kTokens);
    loop.step();
    loop.admit(2, kTokens);
  }
  EXPECT_EQ(cancelled, 2);
  EXPECT_EQ(c.queue.unfinished(), 0);
}

}  // namespace
}  // namespace heed::step_loop_test

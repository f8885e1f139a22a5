// Results of requests that are computed in the background, in order.
#include "heed/generation/request_stream.h"

#include <gtest/gtest.h>

#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"

namespace heed::request_stream_test {
namespace {

TEST(RequestStream, GivesResultsInOrder) {
  const Translator translator = test::tiny_translator(test::letters(), test::letters());
  const auto model = translator.sequences({});
  const auto plan = translator.plan({.search = {.beam_size = 1}});
  const auto request = [&](std::size_t letters) {
    return translator.request_of({.tokens = translator.read(std::string(letters, 'b'))}, plan);
  };
  RequestStream stream(*model, {.batch_sentences = 3});
  for (const std::size_t letters : {9, 1, 5, 2, 7}) stream.submit(request(letters));
  stream.submit_known({Hypothesis{.score = 3.0}});
  EXPECT_EQ(stream.pending(), 6);
  for (const std::size_t letters : {9, 1, 5, 2, 7}) {
    const NBest expected = run_requests(*model, {}, {request(letters)}).at(0);
    EXPECT_EQ(stream.next().at(0).tokens, expected.at(0).tokens);
  }
  EXPECT_EQ(stream.next().at(0).score, 3.0);
  EXPECT_EQ(error_message([&] { stream.next(); }),
            "[stream] no request is pending: submit one first");
}

TEST(RequestStream, MayBeLeftAtAnyTime) {
  const Translator translator = test::tiny_translator(test::letters(), test::letters());
  const auto model = translator.sequences({});
  const auto plan = translator.plan({.search = {.min_length = 400}});
  RequestStream stream(*model);
  stream.submit(translator.request_of({.tokens = translator.read("abc")}, plan));
  EXPECT_EQ(error_message([&] { stream.next([] { throw Error("enough"); }); }), "enough");
}

}  // namespace
}  // namespace heed::request_stream_test

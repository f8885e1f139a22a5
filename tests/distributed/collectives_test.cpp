// What ranks do together: values and errors reach all of them.
#include "heed/distributed/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/base/interrupt.h"
#include "tests/distributed/thread_ranks.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::ThreadRanks;
using testing::HasSubstr;

// What each rank threw.
std::vector<std::string> messages_of(const std::vector<std::exception_ptr>& errors) {
  std::vector<std::string> messages;
  for (const std::exception_ptr& error : errors) {
    messages.push_back(!error ? "" : error_message([&] { std::rethrow_exception(error); }));
  }
  return messages;
}

TEST(Collectives, GatherInTheOrderOfRanks) {
  ThreadRanks(4).run_all([](Communicator& ranks) {
    const std::string own(static_cast<std::size_t>(ranks.rank()), 'a');
    EXPECT_EQ(gather_texts(ranks, own), (std::vector<std::string>{"", "a", "aa", "aaa"}));
    EXPECT_EQ(gather_values(ranks, ranks.rank() * 1.5), (std::vector<double>{0.0, 1.5, 3.0, 4.5}));
    EXPECT_EQ(text_of_first(ranks, "from " + std::to_string(ranks.rank())), "from 0");
    EXPECT_TRUE(holds_everywhere(ranks, true));
    EXPECT_FALSE(holds_everywhere(ranks, ranks.rank() != 2));
  });
}

TEST(Collectives, AnErrorOfOneIsAnErrorOfAll) {
  const auto messages = messages_of(ThreadRanks(3).run([](Communicator& ranks) {
    together(ranks, [&] { HEED_CHECK(ranks.rank() != 1, "[file] x is absent"); });
  }));
  for (const std::string& message : messages) EXPECT_EQ(message, "rank 1: [file] x is absent");
}

TEST(Collectives, AnErrorOfAllNamesNobody) {
  const auto messages = messages_of(ThreadRanks(3).run(
      [](Communicator& ranks) { together(ranks, [] { fail("[file] x is absent"); }); }));
  for (const std::string& message : messages) EXPECT_EQ(message, "[file] x is absent");
}

TEST(Collectives, AnInterruptionOfOneIsOneOfAll) {
  for (const std::exception_ptr& error : ThreadRanks(3).run([](Communicator& ranks) {
         together(ranks, [&] {
           if (ranks.rank() == 2) throw Interrupted();
         });
       })) {
    ASSERT_TRUE(error);
    EXPECT_THROW(std::rethrow_exception(error), Interrupted);
  }
}

TEST(Collectives, DifferencesAreNamedRankByRank) {
  const auto messages = messages_of(ThreadRanks(3).run([](Communicator& ranks) {
    std::string lines = "version = 1\n";
    lines += ranks.rank() == 1 ? "batch = 7\nextra = 1\n" : "batch = 8\n";
    check_same(ranks, lines, "make them equal");
  }));
  for (const std::string& message : messages) {
    EXPECT_THAT(message,
                HasSubstr("differ from rank 0: rank 1: batch is 7 instead of 8, extra is 1 "
                          "instead of absent: make them equal"));
  }
}

TEST(Collectives, OneAloneThrowsWhatItThrows) {
  SingleRank alone;
  EXPECT_THROW(together(alone, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(Collectives, AMissingRankIsNamed) {
  const auto errors = ThreadRanks(3, 0.2).run([](Communicator& ranks) {
    if (ranks.rank() != 1) gather_values(ranks, 1.0);
  });
  EXPECT_FALSE(errors[1]);
  for (const std::size_t r : {0, 2}) {
    ASSERT_TRUE(errors[r]);
    try {
      std::rethrow_exception(errors[r]);
    } catch (const RankLost& lost) {
      EXPECT_EQ(lost.lost(), std::vector<int>{1});
    }
  }
}

}  // namespace
}  // namespace heed

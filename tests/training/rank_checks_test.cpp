// What must be the same on all ranks, and how differences are named.
#include "heed/training/rank_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "heed/tensor/create.h"
#include "tests/distributed/thread_ranks.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/toy_job.h"

namespace heed::rank_checks_test {
namespace {

using test::ThreadRanks;
using testing::HasSubstr;

// What every rank throws, which must be the same.
std::string shared_message(int size, const std::function<void(Communicator&)>& work) {
  std::string message;
  for (const std::exception_ptr& error : ThreadRanks(size).run(work)) {
    if (!error) return "(no error)";
    const std::string own = error_message([&] { std::rethrow_exception(error); });
    EXPECT_TRUE(message.empty() || own == message) << own;
    message = own;
  }
  return message;
}

TEST(RankChecks, FilesAreCompared) {
  const TempDir dir;
  io::write_file(dir / "a", "one\n");
  io::write_file(dir / "b", "two\n");
  const auto check = [&](const char* of_first, const char* of_second) {
    return shared_message(2, [&](Communicator& ranks) {
      TrainConfig config;
      config.train_sets = {(dir / (ranks.is_first() ? of_first : of_second)).string()};
      check_same_start(ranks, config);
    });
  };
  EXPECT_EQ(check("a", "a"), "(no error)");
  EXPECT_THAT(check("a", "b"), HasSubstr("differ from rank 0: rank 1: "));
  EXPECT_THAT(check("a", "no such file"), HasSubstr("is not there instead of absent"));
}

TEST(RankChecks, AFolderThatIsNotSharedIsAnError) {
  const TempDir shared, other;
  EXPECT_EQ(
      shared_message(3, [&](Communicator& ranks) { check_shared_folder(ranks, shared.path()); }),
      "(no error)");
  EXPECT_TRUE(std::filesystem::is_empty(shared.path()));
  EXPECT_THAT(shared_message(3,
                             [&](Communicator& ranks) {
                               check_shared_folder(
                                   ranks, ranks.rank() == 1 ? other.path() : shared.path());
                             }),
              HasSubstr("rank 1: [ranks] "));
}

TEST(RankChecks, ParametersCountToTheBit) {
  const auto check = [](float change) {
    return shared_message(2, [&](Communicator& ranks) {
      test::ToyNetwork network{Generator(5)};
      if (ranks.rank() == 1) network.scores.bias.mutable_data<float>()[1] += change;
      check_same_parameters(ranks, network);
    });
  };
  EXPECT_EQ(check(0.0f), "(no error)");
  EXPECT_THAT(check(1e-6f), HasSubstr("rank 1: the model at the start is "));
}

}  // namespace
}  // namespace heed::rank_checks_test

// Joining the ranks of MPI: nothing without a launcher, and an error without the module.
#include "heed/distributed/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Join, AProcessWithoutALauncherIsAlone) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) GTEST_SKIP() << "started by MPI";
  }
  EXPECT_EQ(join_ranks(), nullptr);
}

TEST(Join, ALauncherNeedsTheModule) {
  if (has_mpi()) GTEST_SKIP() << "tests/cli/ranks_test.py joins ranks of MPI";
  ::setenv("PMI_RANK", "0", 1);
  EXPECT_THAT(error_message([] { join_ranks(); }), testing::HasSubstr("built without MPI"));
  ::unsetenv("PMI_RANK");
}

}  // namespace
}  // namespace heed

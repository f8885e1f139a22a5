#include "cli/ranked.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "heed/distributed/join.h"

namespace heed::cli {
namespace {

// The ranks that are left all miss the same ones: the first of them speaks.
bool speaks(const Communicator& ranks, const RankLost& error) {
  for (int r = 0; r < ranks.rank(); ++r) {
    if (std::ranges::find(error.lost(), r) == error.lost().end()) return false;
  }
  return true;
}

[[noreturn]] void end_all(Communicator& ranks, const std::string& message, int code) {
  std::fflush(stdout);
  fmt::print(stderr, "heed: {}\n", message);
  std::fflush(stderr);
  ranks.abort(code);
  std::_Exit(code);  // GCC does not see that the virtual function above never returns
}

}  // namespace

void run_ranked(const std::function<void(Communicator*)>& work) {
  const std::unique_ptr<Communicator> ranks = join_ranks();
  if (!ranks) return work(nullptr);
  const std::string name = ranks->name_of(ranks->rank());
  try {
    work(ranks.get());
    ranks->leave();
  } catch (const SharedError& error) {
    // The first rank speaks before all leave together: MPI ends all as soon as one has failed.
    if (ranks->is_first()) {
      std::fflush(stdout);
      fmt::print(stderr, "heed: {}\n", error.what());
      std::fflush(stderr);
    }
    ranks->leave();
    std::_Exit(1);
  } catch (const RankLost& error) {
    // Others may be about to say the same.
    if (!speaks(*ranks, error)) std::this_thread::sleep_for(std::chrono::seconds(2));
    end_all(*ranks, error.what(), kRankLost);
  } catch (const std::bad_alloc&) {
    end_all(*ranks, fmt::format("{}: [memory] there is not enough memory", name), 1);
  } catch (const std::exception& error) {
    if (ranks->size() == 1) {
      ranks->leave();
      throw;
    }
    end_all(*ranks, fmt::format("{}: {}", name, error.what()), 1);
  }
}

}  // namespace heed::cli

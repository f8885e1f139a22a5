// The ranks of MPI. This file alone includes MPI's header; it is compiled into a module of its own
// (heed_mpi.so), which join_ranks() loads if MPI has started the process. So the program neither
// needs MPI nor spends the time to load it.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "heed/distributed/communicator.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;
// MPI counts bytes in an int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail("[ranks] {}: {}", what, std::string_view(text, static_cast<std::size_t>(length)));
}

// Waits between polls. A small exchange may wait for a rank that still computes, so it soon sleeps
// and leaves the cores to others. In a large one all ranks are present, and MPI moves bytes only
// while it is polled.
class Pause {
 public:
  explicit Pause(std::size_t bytes) : is_large_(bytes > std::size_t{1} << 16) {}
  void operator()() {
    const int spins = is_large_ ? 1 << 20 : 1 << 8;
    if (++polls_ < spins) {
      sched_yield();
      return;
    }
    const bool is_long = polls_ > spins + 1000;
    std::this_thread::sleep_for(std::chrono::microseconds(is_long ? 500 : 20));
  }

 private:
  bool is_large_;
  int polls_ = 0;
};

class MpiRanks : public Communicator {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    constexpr std::size_t kName = 96;
    char host[64] = "unknown";
    gethostname(host, sizeof host - 1);
    char own[kName] = {};
    std::snprintf(own, kName, "rank %d (%s, process %d)", rank_, host, static_cast<int>(getpid()));
    std::vector<char> all(kName * static_cast<std::size_t>(size_));
    check_mpi(MPI_Allgather(own, kName, MPI_CHAR, all.data(), kName, MPI_CHAR, MPI_COMM_WORLD),
              "the ranks do not find each other");
    for (int r = 0; r < size_; ++r) {
      names_.emplace_back(all.data() + static_cast<std::size_t>(r) * kName);
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name_of(int rank) const override { return names_[static_cast<std::size_t>(rank)]; }
  void set_deadline(double seconds) override { deadline_ = seconds; }

  void exchange(std::span<const Outgoing> sent, std::span<const Incoming> received) override {
    requests_.clear();
    partners_.clear();
    std::size_t bytes = 0;
    for (const Incoming& message : received) {
      bytes += message.bytes.size();
      in_chunks(message.bytes.size(), message.from, [&](std::size_t at, int count, auto* request) {
        return MPI_Irecv(message.bytes.data() + at, count, MPI_BYTE, message.from, kTag,
                         MPI_COMM_WORLD, request);
      });
    }
    for (const Outgoing& message : sent) {
      bytes += message.bytes.size();
      in_chunks(message.bytes.size(), message.to, [&](std::size_t at, int count, auto* request) {
        return MPI_Isend(message.bytes.data() + at, count, MPI_BYTE, message.to, kTag,
                         MPI_COMM_WORLD, request);
      });
    }
    wait(bytes);
  }

  void leave() override { MPI_Finalize(); }
  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  template <typename Start>
  void in_chunks(std::size_t size, int partner, const Start& start) {
    for (std::size_t at = 0; at < size; at += kMostBytes) {
      MPI_Request request = MPI_REQUEST_NULL;
      const auto count = static_cast<int>(std::min(kMostBytes, size - at));
      check_mpi(start(at, count, &request), "a message was refused");
      requests_.push_back(request);
      partners_.push_back(partner);
    }
  }

  void wait(std::size_t bytes) {
    const auto start = Clock::now();
    Pause pause(bytes);
    for (std::int64_t polls = 0;; ++polls) {
      int done = 0;
      check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                            MPI_STATUSES_IGNORE),
                "a message was lost");
      if (done != 0) return;
      if (deadline_ > 0.0 && polls % 64 == 0 &&
          std::chrono::duration<double>(Clock::now() - start).count() > deadline_) {
        lose();
      }
      pause();
    }
  }

  [[noreturn]] void lose() {
    std::vector<int> lost;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      int done = 0;
      if (requests_[i] != MPI_REQUEST_NULL) MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE);
      if (requests_[i] != MPI_REQUEST_NULL && done == 0) lost.push_back(partners_[i]);
    }
    std::ranges::sort(lost);
    const auto doubles = std::ranges::unique(lost);
    lost.erase(doubles.begin(), doubles.end());
    std::string names;
    for (const int rank : lost) names += (names.empty() ? "" : ", ") + name_of(rank);
    throw RankLost(fmt::format("[ranks] {} did not answer within {} s (rank_deadline): the run "
                               "ends; it goes on from its last checkpoint with --resume",
                               names, deadline_),
                   lost);
  }

  int rank_ = 0, size_ = 1;
  double deadline_ = 0.0;
  std::vector<std::string> names_;
  std::vector<MPI_Request> requests_;
  std::vector<int> partners_;  // of the requests
};

}  // namespace
}  // namespace heed

/// Joins the ranks of MPI. The message of an error is written to `error`, which has room for
/// `room` characters; the result is then null.
extern "C" __attribute__((visibility("default"))) heed::Communicator* heed_join_mpi(char* error,
                                                                                    int room) {
  try {
    return new heed::MpiRanks();
  } catch (const std::exception& e) {
    std::snprintf(error, static_cast<std::size_t>(room), "%s", e.what());
    return nullptr;
  }
}

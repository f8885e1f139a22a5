// The ranks of MPI. This file alone includes MPI's header; it is compiled into a module of its own
// (heed_mpi.so), which join_ranks() loads if MPI has started the process. So the program neither
// needs MPI nor spends the time to load it.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "heed/distributed/communicator.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;  // of channel 0
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

// Messages that MPI has been asked to send and receive.
struct Requests {
  std::vector<MPI_Request> all;
  std::vector<int> partners;  // of each
  std::size_t bytes = 0;

  void add(std::span<const Outgoing> sent, std::span<const Incoming> received) {
    for (const Incoming& message : received) {
      in_chunks(message.bytes.size(), message.from, [&](std::size_t at, int count, auto* request) {
        return MPI_Irecv(message.bytes.data() + at, count, MPI_BYTE, message.from,
                         kTag + message.channel, MPI_COMM_WORLD, request);
      });
    }
    for (const Outgoing& message : sent) {
      in_chunks(message.bytes.size(), message.to, [&](std::size_t at, int count, auto* request) {
        return MPI_Isend(message.bytes.data() + at, count, MPI_BYTE, message.to,
                         kTag + message.channel, MPI_COMM_WORLD, request);
      });
    }
  }

  // Moves bytes; whether all messages are complete.
  bool poll() {
    int done = 0;
    check_mpi(MPI_Testall(static_cast<int>(all.size()), all.data(), &done, MPI_STATUSES_IGNORE),
              "a message was lost");
    return done != 0;
  }

  // The partners whose messages are missing, in ascending order.
  std::vector<int> missing() {
    std::vector<int> lost;
    for (std::size_t i = 0; i < all.size(); ++i) {
      int done = 0;
      if (all[i] != MPI_REQUEST_NULL) MPI_Test(&all[i], &done, MPI_STATUS_IGNORE);
      if (all[i] != MPI_REQUEST_NULL && done == 0) lost.push_back(partners[i]);
    }
    std::ranges::sort(lost);
    const auto doubles = std::ranges::unique(lost);
    lost.erase(doubles.begin(), doubles.end());
    return lost;
  }

 private:
  template <typename Start>
  void in_chunks(std::size_t size, int partner, const Start& start) {
    bytes += size;
    for (std::size_t at = 0; at < size; at += kMostBytes) {
      MPI_Request request = MPI_REQUEST_NULL;
      const auto count = static_cast<int>(std::min(kMostBytes, size - at));
      check_mpi(start(at, count, &request), "a message was refused");
      all.push_back(request);
      partners.push_back(partner);
    }
  }
};

// Calls MPI while messages are under way and nobody waits for them: MPI moves bytes only while it
// is called. All calls of MPI hold the mutex.
class Driver {
 public:
  Driver() : thread_([this] { run(); }) {}
  ~Driver() {
    {
      const std::lock_guard lock(mutex);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Both need the mutex.
  void add(Requests& requests) {
    under_way_.push_back(&requests);
    changed_.notify_one();
  }
  void remove(Requests& requests) { std::erase(under_way_, &requests); }

  std::mutex mutex;

 private:
  void run() {
    std::unique_lock lock(mutex);
    while (!ends_) {
      if (under_way_.empty()) {
        changed_.wait(lock);
        continue;
      }
      // Any call moves the bytes of all messages. An error is found again by the rank that waits.
      int done = 0;
      Requests& oldest = *under_way_.front();
      MPI_Testall(static_cast<int>(oldest.all.size()), oldest.all.data(), &done,
                  MPI_STATUSES_IGNORE);
      if (done != 0) under_way_.erase(under_way_.begin());
      changed_.wait_for(lock, kPause);
    }
  }

  // The thread shares the cores with the kernels, so it sleeps between calls.
  static constexpr std::chrono::microseconds kPause{50};
  std::condition_variable changed_;
  std::vector<Requests*> under_way_;
  bool ends_ = false;
  std::thread thread_;  // starts after the members before it
};

class MpiRanks : public Communicator {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
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
    if (size_ > 1 && provided >= MPI_THREAD_SERIALIZED) driver_ = make_driver();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name_of(int rank) const override { return names_[static_cast<std::size_t>(rank)]; }
  void set_deadline(double seconds) override { deadline_ = seconds; }

  std::unique_ptr<Transfer> start(std::span<const Outgoing> sent,
                                  std::span<const Incoming> received) override {
    return std::make_unique<UnderWay>(*this, sent, received);
  }

  // Without the thread.
  void exchange(std::span<const Outgoing> sent, std::span<const Incoming> received) override {
    Requests requests;
    {
      const Lock lock(*this);
      requests.add(sent, received);
    }
    wait(requests);
  }

  void leave() override {
    driver_.reset();
    MPI_Finalize();
  }
  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  // Keeps the thread from calling MPI.
  class Lock {
   public:
    explicit Lock(const MpiRanks& ranks)
        : lock_(ranks.driver_ ? std::unique_lock(ranks.driver_->mutex)
                              : std::unique_lock<std::mutex>()) {}

   private:
    std::unique_lock<std::mutex> lock_;
  };

  class UnderWay : public Transfer {
   public:
    UnderWay(MpiRanks& ranks, std::span<const Outgoing> sent, std::span<const Incoming> received)
        : ranks_(ranks) {
      const Lock lock(ranks);
      requests_.add(sent, received);
      if (ranks.driver_) ranks.driver_->add(requests_);
    }
    ~UnderWay() override { leave_driver(); }
    void complete() override {
      leave_driver();
      ranks_.wait(requests_);
    }

   private:
    void leave_driver() {
      const Lock lock(ranks_);
      if (ranks_.driver_) ranks_.driver_->remove(requests_);
    }

    MpiRanks& ranks_;
    Requests requests_;
  };

  static std::unique_ptr<Driver> make_driver() {
#ifdef HEED_SIMULATED_MPI  // which moves bytes by itself, and has no threads
    return nullptr;
#else
    return std::make_unique<Driver>();
#endif
  }

  void wait(Requests& requests) {
    const auto start = Clock::now();
    Pause pause(requests.bytes);
    for (std::int64_t polls = 0;; ++polls) {
      {
        const Lock lock(*this);
        if (requests.poll()) return;
        if (deadline_ > 0.0 && polls % 64 == 0 &&
            std::chrono::duration<double>(Clock::now() - start).count() > deadline_) {
          lose(requests);
        }
      }
      pause();
    }
  }

  [[noreturn]] void lose(Requests& requests) {
    const std::vector<int> lost = requests.missing();
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
  std::unique_ptr<Driver> driver_;
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

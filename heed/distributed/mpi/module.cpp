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
#include <utility>

#include "heed/distributed/communicator.h"
#include "heed/distributed/flow.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;  // of channel 0

#ifdef HEED_SIMULATED_MPI
// SimGrid moves bytes by itself and has no threads. Polling costs it much time, and a rank that
// waits has nothing else to do.
constexpr bool kIsSimulated = true;
#else
constexpr bool kIsSimulated = false;
#endif

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

// How messages of a flow are sent by MPI.
struct MpiLink {
  using Handle = MPI_Request;
  // MPI counts bytes in an int.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  // A longer message is complete only when its receiver has begun to take it: else MPI would say at
  // once that it is sent, keep a copy, and the window would not limit what is in flight.
  static constexpr std::size_t kMostCopied = std::size_t{1} << 12;

  bool waits = false;  // test() returns when a message is complete

  Handle send(const Outgoing& message) {
    const auto start = message.bytes.size() > kMostCopied ? MPI_Issend : MPI_Isend;
    return started([&](MPI_Request* request) {
      return start(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE,
                   message.to, kTag + message.channel, MPI_COMM_WORLD, request);
    });
  }

  Handle receive(const Incoming& message) {
    return started([&](MPI_Request* request) {
      return MPI_Irecv(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE,
                       message.from, kTag + message.channel, MPI_COMM_WORLD, request);
    });
  }

  // Moves bytes.
  void test(std::span<Handle> handles, std::vector<std::size_t>& done) {
    int count = 0;
    std::vector<int> numbers(handles.size());
    const auto test_some = waits ? MPI_Waitsome : MPI_Testsome;
    check_mpi(test_some(static_cast<int>(handles.size()), handles.data(), &count, numbers.data(),
                        MPI_STATUSES_IGNORE),
              "a message was lost");
    if (count != MPI_UNDEFINED) done.assign(numbers.begin(), numbers.begin() + count);
  }

 private:
  template <typename Start>
  static Handle started(const Start& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(start(&request), "a message was refused");
    return request;
  }
};

using MpiFlow = Flow<MpiLink>;

// The flows under way, and a thread that moves them while nobody waits: MPI moves bytes only while
// it is called, and a window only when somebody looks. All calls of MPI hold the mutex.
class Driver {
 public:
  explicit Driver(bool has_thread) {
    if (has_thread) thread_ = std::thread([this] { run(); });
  }
  ~Driver() {
    {
      const std::lock_guard lock(mutex);
      ends_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Lets the thread look for new flows, if nobody is going to wait for them soon.
  void wake() { changed_.notify_one(); }

  // These need the mutex.
  void add(MpiFlow& flow) { under_way_.push_back(&flow); }
  void remove(MpiFlow& flow) { std::erase(under_way_, &flow); }
  // Whether messages are left.
  bool move(bool waits = false) {
    MpiLink link{.waits = waits};
    MpiFlow::move(link, under_way_);
    std::erase_if(under_way_, [](const MpiFlow* flow) { return flow->is_complete(); });
    return !under_way_.empty();
  }

  bool has_waiting() const { return !std::ranges::all_of(under_way_, &MpiFlow::has_started_all); }

  std::mutex mutex;

 private:
  void run() {
    std::unique_lock lock(mutex);
    while (!ends_) {
      bool is_left = false;
      try {
        is_left = move();
      } catch (const Error&) {
        return;  // the rank that waits finds the error again
      }
      if (is_left) {
        changed_.wait_for(lock, kPause);
      } else {
        changed_.wait(lock, [&] { return ends_ || !under_way_.empty(); });
      }
    }
  }

  // The thread shares the cores with the kernels, so it sleeps between calls.
  static constexpr std::chrono::microseconds kPause{50};
  std::condition_variable changed_;
  std::vector<MpiFlow*> under_way_;
  bool ends_ = false;
  std::thread thread_;
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
    driver_ =
        std::make_unique<Driver>(!kIsSimulated && size_ > 1 && provided >= MPI_THREAD_SERIALIZED);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name_of(int rank) const override { return names_[static_cast<std::size_t>(rank)]; }
  void set_deadline(double seconds) override { deadline_ = seconds; }

  std::unique_ptr<Transfer> start(std::span<const Outgoing> sent,
                                  std::span<const Incoming> received) override {
    auto transfer = std::make_unique<UnderWay>(*this, window_, sent, received);
    driver_->wake();
    return transfer;
  }

  // With a window of its own: it does not stand in line after transfers under way.
  void exchange(std::span<const Outgoing> sent, std::span<const Incoming> received) override {
    Window window;
    UnderWay(*this, window, sent, received).complete();
  }

  // Moves the messages under way, as the thread does; whether any wait for their turn.
  bool move_messages() {
    const std::lock_guard lock(driver_->mutex);
    driver_->move(kIsSimulated);
    return driver_->has_waiting();
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
  class UnderWay : public Transfer {
   public:
    UnderWay(MpiRanks& ranks, Window& window, std::span<const Outgoing> sent,
             std::span<const Incoming> received)
        : ranks_(ranks),
          lock_(ranks.driver_->mutex),
          flow_(ranks, ranks.link_, window, sent, received) {
      ranks.driver_->add(flow_);
      lock_.unlock();
    }
    ~UnderWay() override {
      lock_.lock();  // until the flow is gone
      ranks_.driver_->remove(flow_);
    }
    void complete() override { ranks_.wait(flow_); }

   private:
    MpiRanks& ranks_;
    std::unique_lock<std::mutex> lock_;
    MpiFlow flow_;
  };

  // In the second half of the time all messages are in flight, so that only those are missing
  // whose partner does not answer.
  void wait(MpiFlow& flow) {
    const auto start = Clock::now();
    Pause pause(flow.bytes());
    bool has_started_all = false;
    for (std::int64_t polls = 0;; ++polls) {
      {
        const std::lock_guard lock(driver_->mutex);
        if (!flow.is_complete()) driver_->move(kIsSimulated);
        if (flow.is_complete()) return;
        if (deadline_ > 0.0 && polls % 64 == 0) {
          const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
          if (seconds > deadline_) lose(flow);
          if (seconds > deadline_ / 2.0 && !std::exchange(has_started_all, true)) flow.start_all();
        }
      }
      if (!kIsSimulated) pause();
    }
  }

  [[noreturn]] void lose(const MpiFlow& flow) {
    const std::vector<int> lost = flow.missing();
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
  Window window_;  // of all transfers under way
  MpiLink link_;
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

/// Moves the messages under way, as the thread of a rank does; whether any wait for their turn.
extern "C" __attribute__((visibility("default"))) bool heed_move_messages(
    heed::Communicator* ranks) {
  return static_cast<heed::MpiRanks*>(ranks)->move_messages();
}

// Ranks that are threads of one process: what many processes do, without MPI.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "heed/distributed/communicator.h"

namespace heed::test {

class ThreadRanks {
 public:
  explicit ThreadRanks(int size, double deadline = 60.0) : size_(size), deadline_(deadline) {}

  /// Runs the work of every rank in a thread; what each threw, or null.
  std::vector<std::exception_ptr> run(const std::function<void(Communicator&)>& work) {
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size_));
    std::vector<std::thread> threads;
    for (int r = 0; r < size_; ++r) {
      threads.emplace_back([&, r] {
        Rank rank(*this, r);
        try {
          work(rank);
        } catch (...) {
          errors[static_cast<std::size_t>(r)] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

  /// The same, where nothing may be thrown.
  void run_all(const std::function<void(Communicator&)>& work) {
    for (const std::exception_ptr& error : run(work)) {
      if (error) std::rethrow_exception(error);
    }
  }

 private:
  using Message = std::vector<std::byte>;

  // Messages are sent as soon as they start, and received when they are asked for.
  class Receiving : public Transfer {
   public:
    Receiving(ThreadRanks& all, int rank, std::span<const Incoming> received)
        : all_(all), rank_(rank), received_(received.begin(), received.end()) {}
    void complete() override {
      std::unique_lock lock(all_.mutex_);
      for (const auto& [from, bytes, channel] : received_) {
        std::deque<Message>& box = all_.boxes_[{from, rank_, channel}];
        const bool came = all_.changed_.wait_for(
            lock, std::chrono::duration<double>(all_.deadline_), [&] { return !box.empty(); });
        if (!came) throw RankLost(fmt::format("rank {} did not answer", from), {from});
        HEED_ASSERT(box.front().size() == bytes.size());
        std::copy(box.front().begin(), box.front().end(), bytes.begin());
        box.pop_front();
      }
    }

   private:
    ThreadRanks& all_;
    int rank_;
    std::vector<Incoming> received_;
  };

  class Rank : public Communicator {
   public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    std::string name_of(int rank) const override { return fmt::format("rank {}", rank); }
    void set_deadline(double) override {}
    void leave() override {}
    [[noreturn]] void abort(int) override { throw InternalError("abort"); }

    std::unique_ptr<Transfer> start(std::span<const Outgoing> sent,
                                    std::span<const Incoming> received) override {
      const std::lock_guard lock(all_.mutex_);
      for (const auto& [to, bytes, channel] : sent) {
        all_.boxes_[{rank_, to, channel}].emplace_back(bytes.begin(), bytes.end());
      }
      all_.changed_.notify_all();
      return std::make_unique<Receiving>(all_, rank_, received);
    }

   private:
    ThreadRanks& all_;
    int rank_;
  };

  int size_;
  double deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::tuple<int, int, int>, std::deque<Message>> boxes_;  // sender, receiver, channel
};

}  // namespace heed::test

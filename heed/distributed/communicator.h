// The processes that train together, called ranks as in MPI, and the one way they talk: a set of
// messages that each sends and receives at once. It starts, and later it is completed. Everything
// else (collectives.h) is made from it, so that another transport has one function to write, and a
// rank that is lost has one place to be noticed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"

namespace heed {

/// A message to another rank. Messages of one channel arrive in the order in which they were sent.
struct Outgoing {
  int to;
  std::span<const std::byte> bytes;
  int channel = 0;
};

/// A message from another rank; its sender sends as many bytes.
struct Incoming {
  int from;
  std::span<std::byte> bytes;
  int channel = 0;
};

/// Ranks did not answer within the deadline.
class RankLost : public Error {
 public:
  RankLost(const std::string& message, std::vector<int> lost)
      : Error(message), lost_(std::move(lost)) {}
  /// In ascending order.
  const std::vector<int>& lost() const { return lost_; }

 private:
  std::vector<int> lost_;
};

/// An error that every rank throws, with the same message.
class SharedError : public Error {
 public:
  using Error::Error;
};

/// Messages under way. Their bytes must stay in place until they are complete.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Returns when all messages are complete. Throws RankLost, which names every rank whose message
  /// is still missing after the deadline, counted from this call.
  virtual void complete() = 0;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  /// The number of this process, from 0.
  virtual int rank() const = 0;
  /// The number of processes.
  virtual int size() const = 0;
  /// How messages name a rank: "rank 2 (node7, process 4121)".
  virtual std::string name_of(int rank) const = 0;
  /// Begins to send and receive messages. They move while this process computes.
  virtual std::unique_ptr<Transfer> start(std::span<const Outgoing> sent,
                                          std::span<const Incoming> received) = 0;
  /// Sends and receives all messages; returns when all are complete.
  virtual void exchange(std::span<const Outgoing> sent, std::span<const Incoming> received) {
    start(sent, received)->complete();
  }
  /// The seconds after which a rank that does not answer is lost; 0: never.
  virtual void set_deadline(double seconds) = 0;
  /// Ends this process's part after all work is done.
  virtual void leave() = 0;
  /// Ends the processes of all ranks with an exit code.
  [[noreturn]] virtual void abort(int code) = 0;

  bool is_first() const { return rank() == 0; }
};

/// A process on its own.
class SingleRank : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string name_of(int) const override { return "rank 0"; }
  std::unique_ptr<Transfer> start(std::span<const Outgoing> sent,
                                  std::span<const Incoming> received) override {
    HEED_ASSERT(sent.empty() && received.empty());
    struct Nothing : Transfer {
      void complete() override {}
    };
    return std::make_unique<Nothing>();
  }
  void set_deadline(double) override {}
  void leave() override {}
  [[noreturn]] void abort(int code) override { std::exit(code); }
};

}  // namespace heed

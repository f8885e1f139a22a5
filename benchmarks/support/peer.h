// PyTorch in a separate process that answers requests line by line (benchmarks/peer/peer.py).
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace heed::bench {

/// The value of `key=` in an answer; throws heed::Error if it is missing.
std::string field(const std::string& answer, std::string_view key);

class Peer {
 public:
  /// Starts the interpreter named by HEED_PEER_PYTHON; returns nullopt if it is not set.
  static std::optional<Peer> start(const std::string& script);
  Peer(Peer&& other) noexcept;
  Peer& operator=(Peer&&) = delete;
  ~Peer();

  /// Sends a request and returns the answer without its "ok "; throws heed::Error on "error …".
  std::string ask(const std::string& request);
  /// Waits until the threads of the last request sleep: idle threads spin for a while and would
  /// disturb the next measurement.
  static void settle();
  /// The best time of a case in seconds, the faster of eager and compiled.
  double best_seconds(const std::string& name, int threads, int repeats);

 private:
  Peer() = default;
  int pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace heed::bench

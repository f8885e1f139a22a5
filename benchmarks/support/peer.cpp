#include "benchmarks/support/peer.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "heed/base/error.h"

extern char** environ;

namespace heed::bench {

std::string field(const std::string& answer, std::string_view key) {
  std::istringstream words(answer);
  for (std::string word; words >> word;) {
    if (word.starts_with(key) && word[key.size()] == '=') return word.substr(key.size() + 1);
  }
  HEED_CHECK(false, "[bench] the peer's answer '{}' has no {}=", answer, key);
  return {};
}

std::optional<Peer> Peer::start(const std::string& script) {
  const char* const python = std::getenv("HEED_PEER_PYTHON");
  if (python == nullptr) return std::nullopt;
  std::array<int, 2> in{}, out{};
  HEED_CHECK(pipe(in.data()) == 0 && pipe(out.data()) == 0, "[bench] no pipe to the peer");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  for (const int fd : {in[0], in[1], out[0], out[1]})
    posix_spawn_file_actions_addclose(&actions, fd);
  std::string interpreter = python;
  std::string path = std::string(HEED_PEER_DIR) + "/" + script;
  std::array<char*, 3> arguments{interpreter.data(), path.data(), nullptr};
  Peer peer;
  const int failed = posix_spawn(&peer.pid_, python, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  HEED_CHECK(failed == 0, "[bench] {} cannot be started: check HEED_PEER_PYTHON", python);
  peer.to_ = fdopen(in[1], "w");
  peer.from_ = fdopen(out[0], "r");
  return peer;
}

Peer::Peer(Peer&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_(std::exchange(other.to_, nullptr)),
      from_(std::exchange(other.from_, nullptr)) {}

Peer::~Peer() {
  if (pid_ < 0) return;
  std::fclose(to_);  // the peer ends at the end of its input
  std::fclose(from_);
  waitpid(pid_, nullptr, 0);
}

std::string Peer::ask(const std::string& request) {
  fmt::print(to_, "{}\n", request);
  std::fflush(to_);
  std::array<char, 4096> buffer{};
  HEED_CHECK(std::fgets(buffer.data(), buffer.size(), from_) != nullptr,
             "[bench] the peer ended without an answer to '{}': see its messages above", request);
  std::string line = buffer.data();
  while (!line.empty() && line.back() == '\n') line.pop_back();
  HEED_CHECK(line.starts_with("ok "), "[bench] the peer answers '{}' to '{}'", line, request);
  return line.substr(3);
}

void Peer::settle() { usleep(300'000); }

double Peer::best_seconds(const std::string& name, int threads, int repeats) {
  double best = 1e30;
  for (const char* const mode : {"eager", "compile"}) {
    const std::string answer =
        ask(fmt::format("{} threads={} mode={} repeats={}", name, threads, mode, repeats));
    best = std::min(best, std::stod(field(answer, "best_us")) * 1e-6);
  }
  settle();
  return best;
}

}  // namespace heed::bench

#include "cli/supervise.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <sstream>
#include <vector>

#include "cli/filter_io.h"
#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/training/checkpoints.h"

namespace heed::cli {
namespace {

std::atomic<pid_t> launched = 0;
std::atomic<bool> is_asked_to_stop = false;

// Launchers forward SIGUSR1 to all ranks; other signals they take as a request to kill them.
extern "C" void forward_signal(int) {
  is_asked_to_stop = true;
  if (launched > 0) ::kill(launched, SIGUSR1);
}

// The words of this process's command line, without flags of the supervisor.
std::vector<std::string> own_command() {
  const std::string all = io::read_file("/proc/self/cmdline", std::size_t{1} << 22);
  std::vector<std::string> words;
  std::istringstream stream(all);
  for (std::string word; std::getline(stream, word, '\0');) {
    constexpr std::string_view kOurs[] = {"--restarts", "--ranks", "--launcher"};
    const std::string_view flag = std::string_view(word).substr(0, word.find('='));
    if (std::ranges::find(kOurs, flag) == std::end(kOurs)) {
      words.push_back(word);
    } else if (flag.size() == word.size()) {
      std::getline(stream, word, '\0');  // its value
    }
  }
  return words;
}

std::vector<std::string> launcher_words(const std::string& launcher, std::int64_t ranks) {
  std::istringstream stream(launcher);
  std::vector<std::string> words;
  bool has_number = false;
  for (std::string word; stream >> word;) {
    has_number = has_number || word == "{}";
    words.push_back(word == "{}" ? std::to_string(ranks) : word);
  }
  HEED_CHECK(has_number,
             "[ranks] launcher = \"{}\": write {{}} for the number of ranks, such as "
             "mpirun -n {{}}",
             launcher);
  return words;
}

// Runs a command to its end; its exit code, or 128 and the signal that ended it.
int run_command(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  HEED_CHECK(child >= 0, "[ranks] cannot start {}: no more processes", words[0]);
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  launched = child;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  launched = 0;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  HEED_CHECK(code != 127,
             "[ranks] cannot run {}: install openmpi-bin, or name another launcher "
             "(--launcher)",
             words[0]);
  return code;
}

std::int64_t newest_update(const std::filesystem::path& model) {
  if (!std::filesystem::is_directory(model)) return -1;
  const std::vector<std::int64_t> updates = Checkpoints(model, 0).updates();
  return updates.empty() ? -1 : updates.back();
}

}  // namespace

int supervise(const Supervision& supervision) {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) std::signal(number, forward_signal);
  std::vector<std::string> command = own_command();
  std::int64_t ranks = supervision.ranks;
  for (std::int64_t left = supervision.restarts;; --left) {
    const std::int64_t before = newest_update(supervision.model);
    std::vector<std::string> words = launcher_words(supervision.launcher, ranks);
    words.insert(words.end(), command.begin(), command.end());
    const int code = run_command(words);
    const std::int64_t now = newest_update(supervision.model);
    if (code == 0 || is_asked_to_stop || left <= 0) return code;
    if (now == before && (code == 1 || code == 2)) return code;
    if (now == before) ranks = std::max<std::int64_t>(1, ranks / 2);
    print_note(
        fmt::format("the run ended with {}; starting {} ranks again from update {}, {} "
                    "restarts left",
                    code, ranks, std::max<std::int64_t>(0, now), left - 1));
    if (std::ranges::find(command, "--resume") == command.end()) command.emplace_back("--resume");
  }
}

}  // namespace heed::cli

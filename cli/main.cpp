// The program heed: finds the verb, runs it, and turns errors into exit codes (0 success, 1
// failure, 2 wrong usage).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/config_flags.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/version.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int run(int argc, char** argv) {
  const char* const program = std::getenv("HEED_PROGRAM");  // ./run sets the name it was called by
  CLI::App app("heed: attention on CPUs", program != nullptr ? program : "heed");
  app.set_version_flag("--version", std::string(heed::version()));
  app.require_subcommand(1);
  app.failure_message(heed::cli::usage_error);
  heed::cli::add_demo(app);
  heed::cli::add_train(app);
  heed::cli::add_translate(app);
  heed::cli::add_generate(app);
  heed::cli::add_classify(app);
  heed::cli::add_average(app);
  heed::cli::add_list(app);
  heed::cli::add_see(app);
  heed::cli::add_compare(app);
  heed::cli::add_corpus(app);
  heed::cli::add_vocab(app);
  heed::cli::add_inspect(app);
  heed::cli::add_score(app);
  heed::cli::add_info(app);
  std::vector<std::string> words = heed::cli::join_truth_values(heed::cli::spell_out(argc, argv));
  std::reverse(words.begin(), words.end());  // CLI11 reads them from the end
  try {
    app.parse(std::move(words));
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kWrongUsage;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const heed::Error& e) {
    fmt::print(stderr, "heed: {}\n", e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    fmt::print(stderr, "heed: [file] {}: {}\n", e.path1().string(), e.code().message());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "heed: [memory] the system has no more memory: use a smaller batch or model\n");
  } catch (const std::exception& e) {
    fmt::print(stderr,
               "heed: {}\nThis is a bug in heed; please report it with the command you ran.\n",
               e.what());
  }
  return kFailed;
}

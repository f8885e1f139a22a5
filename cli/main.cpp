// The program heed: finds the verb, runs it, and turns errors into exit codes (0 success, 1
// failure, 2 wrong usage).
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/version.h"
#include "heed/io/paths.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// Printed as it is, because a note that is put together needs memory.
constexpr const char* kNoMemory =
    "heed: [memory] there is not enough memory for this: use smaller batches, a shorter text, a "
    "smaller model or a machine with more memory\n";

// Output stays in a buffer until here, so only here it is known whether all of it was written.
void finish_output() {
  errno = 0;
  std::cout.flush();  // CLI11 prints help to it
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  const int code = errno;
  HEED_CHECK(written, "[output] cannot write to standard output: {}",
             code == 0 ? "an earlier write failed" : std::generic_category().message(code));
}

// The verbs in the order of help, each in its group.
struct Verb {
  const char* group;
  void (*add)(CLI::App&);
};

// clang-format off
constexpr Verb kVerbs[] = {
    {"Begin here", heed::cli::add_demo},
    {"Begin here", heed::cli::add_info},
    {"Begin here", heed::cli::add_list},
    {"Use a model", heed::cli::add_translate},
    {"Use a model", heed::cli::add_generate},
    {"Use a model", heed::cli::add_classify},
    {"Use a model", heed::cli::add_embed},
    {"Use a model", heed::cli::add_fill},
    {"Use a model", heed::cli::add_recognise},
    {"Use a model", heed::cli::add_caption},
    {"Use a model", heed::cli::add_read},
    {"Use a model", heed::cli::add_answer},
    {"Use a model", heed::cli::add_point},
    {"Use a model", heed::cli::add_copy},
    {"Use a model", heed::cli::add_serve},
    {"Train a model", heed::cli::add_train},
    {"Train a model", heed::cli::add_corpus},
    {"Train a model", heed::cli::add_vocab},
    {"Train a model", heed::cli::add_score},
    {"Change a model", heed::cli::add_average},
    {"Change a model", heed::cli::add_conversions},
    {"Change a model", heed::cli::add_shortlist},
    {"Look inside", heed::cli::add_see},
    {"Look inside", heed::cli::add_inspect},
    {"Look inside", heed::cli::add_compare},
};
// clang-format on

void add_verbs(CLI::App& app) {
  for (const Verb& verb : kVerbs) {
    const std::size_t before = app.get_subcommands({}).size();
    verb.add(app);  // add_conversions adds two
    const std::vector<CLI::App*> all = app.get_subcommands({});
    for (std::size_t i = before; i < all.size(); ++i) all[i]->group(verb.group);
  }
}

int run(int argc, char** argv) {
  const char* const program = std::getenv("HEED_PROGRAM");  // ./run sets the name it was called by
  CLI::App app("heed: attention on CPUs", program != nullptr ? program : "heed");
  app.set_version_flag("--version", std::string(heed::version()));
  app.require_subcommand(1);
  app.failure_message(heed::cli::usage_error);
  add_verbs(app);
  std::vector<std::string> words = heed::cli::join_truth_values(heed::cli::spell_out(argc, argv));
  std::reverse(words.begin(), words.end());  // CLI11 reads them from the end
  try {
    app.parse(std::move(words));
    return 0;
  } catch (const CLI::RuntimeError& e) {  // a verb that ended with a code of its own
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kWrongUsage;
  }
}

// Says what the exception in progress means.
void explain() {
  using heed::cli::print_note;
  try {
    throw;
  } catch (const heed::Error& e) {
    print_note(e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    print_note(heed::io::message_of(e));
  } catch (const std::system_error& e) {  // a write to standard output, a thread that cannot start
    print_note(e.what());
  } catch (const std::bad_alloc&) {
    std::fputs(kNoMemory, stderr);
  } catch (const std::length_error&) {  // more than a vector can hold
    std::fputs(kNoMemory, stderr);
  } catch (const std::exception& e) {
    print_note(fmt::format("{}\nThis is a bug in heed; please report it with the command you ran.",
                           e.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int code = kFailed;
  try {
    code = run(argc, argv);
    finish_output();
    return code;
  } catch (...) {
    try {
      explain();
    } catch (const std::bad_alloc&) {  // even the message needs memory
      std::fputs(kNoMemory, stderr);
    }
  }
  // What was printed before the error is still wanted; a second error would say nothing new.
  std::fflush(stdout);
  return code == 0 ? kFailed : code;
}

// The part of the torture that is in C++ (torture/torture.py runs it):
//
//   heed_torture differential KIND|all SEED SECONDS   cases from SEED on, one after another
//   heed_torture case KIND SEED                       one case
//   heed_torture threads SEED THREADS SECONDS
//
// Before each case its kind and seed are printed, so that they are known if it crashes; a failure
// is a line that begins with WRONG.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "torture/cases.h"
#include "torture/threads_case.h"

namespace heed::torture {
namespace {

constexpr CaseKind kKinds[] = {{"attention", attention_case},
                               {"packed", packed_case},
                               {"cache", cache_case},
                               {"mechanism", mechanism_case},
                               {"model", model_case}};

void print_line(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

// True if the case passes.
bool run_case(const CaseKind& kind, std::uint64_t seed, bool loud) {
  print_line(fmt::format("case {} {}", kind.name, seed));
  Draws draws(seed);
  try {
    const std::string text = kind.run(draws);
    if (loud || text.starts_with("refused")) print_line(text);
    return true;
  } catch (const std::exception& error) {
    std::string text = error.what();
    for (char& c : text) c = c == '\n' ? ' ' : c;
    print_line(fmt::format("WRONG {} {} {}", kind.name, seed, text));
    return false;
  }
}

int run_differential(std::string_view name, std::uint64_t seed, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::map<std::string_view, std::int64_t> counts;
  bool good = true;
  for (std::uint64_t i = 0; Clock::now() < end; ++i) {
    for (const CaseKind& kind : kKinds) {
      if (name != "all" && name != kind.name) continue;
      // A model takes as long as a hundred calls of attention.
      if (kind.run == model_case && name == "all" && i % 10 != 0) continue;
      good = run_case(kind, seed + i, false) && good;
      ++counts[kind.name];
    }
  }
  std::string text = "done";
  for (const auto& [kind, count] : counts) text += fmt::format(" {} {}", kind, count);
  print_line(text);
  return good ? 0 : 1;
}

int run(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (verb == "differential" && argc == 5) {
    return run_differential(argv[2], number(3), std::atof(argv[4]));
  }
  if (verb == "case" && argc == 4) {
    for (const CaseKind& kind : kKinds) {
      if (kind.name == argv[2]) return run_case(kind, number(3), true) ? 0 : 1;
    }
  }
  if (verb == "threads" && argc == 5) {
    print_line(run_threads(number(2), static_cast<int>(number(3)), std::atof(argv[4])));
    return 0;
  }
  fmt::print(stderr,
             "usage: heed_torture differential KIND|all SEED SECONDS\n"
             "       heed_torture case KIND SEED\n"
             "       heed_torture threads SEED THREADS SECONDS\n");
  return 2;
}

}  // namespace

std::span<const CaseKind> case_kinds() { return kKinds; }

}  // namespace heed::torture

int main(int argc, char** argv) {
  try {
    return heed::torture::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print("WRONG {}\n", error.what());
    return 1;
  }
}

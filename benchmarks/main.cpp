// heed_bench SUITE [PART] [--results DIR]: measures, prints, and with --results writes the figures
// as JSON.
#include <fmt/format.h>

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/attention/memory_point.h"
#include "benchmarks/models/point.h"
#include "benchmarks/suites.h"

namespace heed::bench {
namespace {

int usage() {
  fmt::print(stderr, "usage: heed_bench SUITE [PART] [--results DIR]\n");
  for (const Suite& suite : kSuites) {
    fmt::print(stderr, "  {:<10} {}\n             parts:", suite.name, suite.what);
    for (const Part& part : suite.parts) {
      if (part.run != nullptr) fmt::print(stderr, " {}", part.name);
    }
    fmt::print(stderr, "\n");
  }
  return 2;
}

struct Wanted {
  std::string_view suite, part, results;
  bool understood = true;
};

Wanted parse(std::span<const std::string_view> words) {
  Wanted wanted;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view* const to = words[i] == "--results" ? &wanted.results
                                 : wanted.suite.empty()  ? &wanted.suite
                                                         : &wanted.part;
    if (to == &wanted.results) ++i;
    wanted.understood = wanted.understood && i < words.size() && to->empty();
    if (wanted.understood) *to = words[i];
  }
  return wanted;
}

int run(const Wanted& wanted) {
  for (const Suite& suite : kSuites) {
    if (wanted.suite != suite.name) continue;
    Report report;
    bool found = false;
    for (const Part& part : suite.parts) {
      if (part.run == nullptr || (!wanted.part.empty() && wanted.part != part.name)) continue;
      part.run(report);
      found = true;
    }
    if (!found) return usage();
    fmt::print("\n{} of the goals above missed (marked !)\n", report.missed());
    if (!wanted.results.empty()) {
      report.write(std::string(wanted.results),
                   fmt::format("{}{}{}", suite.name, wanted.part.empty() ? "" : "-", wanted.part));
    }
    return 0;
  }
  return usage();
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  using namespace heed::bench;
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  try {
    if (!words.empty() && words[0] == kMemoryPoint) return print_memory_point(words);
    if (!words.empty() && words[0] == kModelPoint) return print_model_point(words);
    const Wanted wanted = parse(words);
    return wanted.understood ? run(wanted) : usage();
  } catch (const std::exception& e) {
    fmt::print(stderr, "heed_bench: {}\n", e.what());
    return 1;
  }
}

// heed_bench SUITE [--results DIR]: measures, prints, and with --results keeps the figures as JSON.
#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "benchmarks/suites.h"

int main(int argc, char** argv) {
  using heed::bench::kSuites;
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  const std::string results = argc > 3 && std::string_view(argv[2]) == "--results" ? argv[3] : "";
  for (const auto& suite : kSuites) {
    if (wanted != suite.name) continue;
    try {
      heed::bench::Report report;
      for (const auto part : suite.parts) {
        if (part != nullptr) part(report);
      }
      fmt::print("\n{} of the goals above missed (marked !)\n", report.missed());
      if (!results.empty()) report.write(results, suite.name);
      return 0;
    } catch (const std::exception& e) {
      fmt::print(stderr, "heed_bench: {}\n", e.what());
      return 1;
    }
  }
  fmt::print(stderr, "usage: heed_bench SUITE [--results DIR]\n");
  for (const auto& suite : kSuites) fmt::print(stderr, "  {:<10} {}\n", suite.name, suite.what);
  return 2;
}

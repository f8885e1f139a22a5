#include "benchmarks/support/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/isa.h"

namespace heed::bench {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

void Report::add(Row row) {
  if (rows_.empty() || rows_.back().group != row.group) {
    fmt::print("\n{}\n  {:<44} {:>7} {:>7} {:>6}  {:<18} {:<34} {}\n", row.group, "", "threads",
               "ratio", "goal", "ours", "yardstick", "error");
  }
  fmt::print("  {:<44} {:>7} {:>7.3f} {:>5.2f}{}  {:<18} {:<34} {}\n", row.name, row.threads,
             row.ratio, row.goal, row.ratio >= row.goal ? ' ' : '!', row.ours, row.yardstick,
             row.error < 0 ? "" : fmt::format("{:.1e}", row.error));
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void Report::note(std::string text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
  notes_.push_back(std::move(text));
}

void Report::write(const std::string& directory, std::string_view suite) const {
  nlohmann::ordered_json json;
  json["suite"] = suite;
  json["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  json["cpu"] = cpu_name();
  json["isa"] = name_of(current_isa());
  json["compiler"] = fmt::format("g++ {}", __VERSION__);
  json["notes"] = notes_;
  for (const Row& row : rows_) {
    nlohmann::ordered_json r = {
        {"group", row.group}, {"name", row.name}, {"threads", row.threads},    {"ratio", row.ratio},
        {"goal", row.goal},   {"ours", row.ours}, {"yardstick", row.yardstick}};
    if (row.error >= 0) r["error"] = row.error;
    json["rows"].push_back(std::move(r));
  }
  const std::string path = fmt::format("{}/{}.json", directory, suite);
  std::ofstream file(path);
  file << json.dump(1) << '\n';
  HEED_CHECK(file.good(), "[bench] {} cannot be written", path);
  fmt::print("\nwritten to {}\n", path);
}

int Report::missed() const {
  int count = 0;
  for (const Row& row : rows_) count += row.ratio < row.goal ? 1 : 0;
  return count;
}

}  // namespace heed::bench

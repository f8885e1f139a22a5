// The results of a benchmark: a printed table, and JSON for the record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::bench {

/// One comparison. `ratio` is heed's figure relative to the reference figure, larger is better;
/// `goal` is what it should reach.
struct Row {
  std::string group;
  std::string name;
  int threads = 1;
  double ratio = 0.0;
  double goal = 0.0;
  std::string ours;       // heed's figure with its unit
  std::string yardstick;  // the other figure and what it is
  double error = -1.0;    // against the double twin; negative if nothing is rounded
};

class Report {
 public:
  /// Prints a row as it arrives and keeps it.
  void add(Row row);
  /// A line about the environment, e.g. the version of the peer.
  void note(std::string text);
  /// Writes <directory>/<suite>.json: date, CPU, compiler, notes, rows.
  void write(const std::string& directory, std::string_view suite) const;
  /// Rows that missed their goal.
  int missed() const;

 private:
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
};

}  // namespace heed::bench

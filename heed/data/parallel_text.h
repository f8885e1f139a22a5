// Reads sentences and their translations line by line: from two files, or from two columns of one
// tab-separated file; plain or gzip. A bad line throws an error with its place, or is skipped and
// counted. A pair is skipped if either of its lines is bad.
//
//   ParallelText text("train.en.gz", "train.de.gz", {.on_bad = OnBad::skip});
//   for (TextPair pair; text.next(pair);) use(pair.source, pair.target);
//   text.report().bad.describe();
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "heed/data/line_check.h"
#include "heed/io/lines.h"

namespace heed {

/// Options of ParallelText.
struct ParallelTextOptions {
  OnBad on_bad = OnBad::stop;
  std::size_t max_line_bytes = std::size_t{64} << 10;  ///< Limit of a sentence.
};

/// The columns of a tab-separated file that hold the sentences, from 1.
struct TextColumns {
  int source = 1;
  int target = 2;
};

/// A sentence and its translation, valid until the next one is read.
struct TextPair {
  std::string_view source;
  std::string_view target;
  std::int64_t line = 0;  ///< From 1.
};

/// Statistics of what was read so far.
struct TextReport {
  std::int64_t lines = 0;  ///< Pairs of lines, including bad ones.
  std::int64_t kept = 0;
  BadLines bad;
  std::int64_t unmatched = 0;  ///< Extra lines of `longer`, which were not used.
  std::string longer;          ///< The file that has more lines.
};

/// "29000 lines, 28990 kept, 10 empty (first: train.de:17)".
std::string describe(const TextReport& report);

/// Reads pairs of lines in order.
class ParallelText {
 public:
  /// Reads two files; line n of one is the translation of line n of the other.
  ParallelText(const std::filesystem::path& source, const std::filesystem::path& target,
               const ParallelTextOptions& options = {});
  /// Reads two columns of one file.
  ParallelText(const std::filesystem::path& table, const TextColumns& columns,
               const ParallelTextOptions& options = {});

  /// Reads the next good pair; returns false at the end.
  bool next(TextPair& pair);
  const TextReport& report() const { return report_; }

 private:
  bool read_lines();
  bool split_columns(TextPair& pair);
  bool accept(std::string_view line, const std::string& place);
  void count_unmatched(io::LineReader& longer, const io::LineReader& shorter);

  ParallelTextOptions options_;
  io::LineReader source_;
  std::optional<io::LineReader> target_;  // unset: columns of source_
  TextColumns columns_;
  std::string source_line_, target_line_;
  TextReport report_;
};

}  // namespace heed

// Sentences and their translations, read line by line: from two files, or from two columns of one
// file with tabs; plain or gzip. Bad lines stop the reading with their place, or are left out and
// counted. A pair is left out when either of its lines is bad.
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

struct ParallelTextOptions {
  OnBad on_bad = OnBad::stop;
  std::size_t max_line_bytes = std::size_t{64} << 10;  ///< Of a sentence.
};

/// Which columns of a file with tabs hold the sentences, from 1.
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

/// What was read so far.
struct TextReport {
  std::int64_t lines = 0;  ///< Pairs of lines, bad ones too.
  std::int64_t kept = 0;
  BadLines bad;
  std::int64_t unmatched =
      0;               ///< Lines of `longer` behind the other file's end, which were not used.
  std::string longer;  ///< The file that has more lines.
};

/// "29000 lines, 28990 kept, 10 empty (first: train.de:17)".
std::string describe(const TextReport& report);

class ParallelText {
 public:
  /// Reads two files whose lines belong together.
  ParallelText(const std::filesystem::path& source, const std::filesystem::path& target,
               const ParallelTextOptions& options = {});
  /// Reads two columns of one file.
  ParallelText(const std::filesystem::path& table, const TextColumns& columns,
               const ParallelTextOptions& options = {});

  /// The next pair that is fit; false at the end.
  bool next(TextPair& pair);
  const TextReport& report() const { return report_; }

 private:
  bool read_lines();
  bool split_columns(TextPair& pair);
  bool accept(std::string_view line, const std::string& place);
  void count_unmatched(io::LineReader& longer, const io::LineReader& shorter);

  ParallelTextOptions options_;
  io::LineReader source_;
  std::optional<io::LineReader> target_;  // none: columns of source_
  TextColumns columns_;
  std::string source_line_, target_line_;
  TextReport report_;
};

}  // namespace heed

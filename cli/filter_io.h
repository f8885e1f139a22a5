// Common parts of filters: reading lines with a policy for invalid ones, writing text to a pipe or
// a file, and a clean end on Ctrl-C or when the pipe is closed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heed/data/line_check.h"
#include "heed/io/file.h"
#include "heed/io/lines.h"

namespace heed::cli {

/// Thrown to unwind when a signal arrives, or when the output has no reader any more.
struct Stopped {
  int signal;
};

/// Runs the work of a filter. A signal stops it within a fraction of a second, also inside a batch;
/// its resources are released, and the process ends as the signal would have ended it. A second
/// signal ends it at once.
void run_filter(const std::function<void()>& work);

/// Throws Stopped if a signal has arrived.
void check_signals();

/// Writes text to standard output ("-") or to a file that appears when it is complete. Pipes and
/// devices are written directly.
class Output {
 public:
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Writes without buffering.
  void write(std::string_view text);
  /// Completes the file, which then appears under its name.
  void commit();

 private:
  std::string name_;
  int descriptor_ = -1;                   // if it is a stream
  std::unique_ptr<io::AtomicFile> file_;  // if it is a file
};

/// The policy for a line that is not valid text.
enum class OnBadLine : std::uint8_t { stop, skip, mend };

/// Lines of text, one by one.
class TextLines {
 public:
  TextLines(const std::string& path, OnBadLine on_bad) : reader_(path), on_bad_(on_bad) {}

  /// The next line: empty for one that is skipped, so that outputs keep their line numbers. False
  /// at the end. With OnBadLine::stop, an invalid line throws heed::Error.
  bool next(std::string& line);
  /// Whether next() would block: then waiting results should be written.
  bool would_wait();
  /// "standard input:17"
  std::string place() const { return reader_.place(); }
  /// A description of the lines that were skipped or mended; "" if there were none.
  std::string describe_bad() const { return bad_.describe(); }

 private:
  io::LineReader reader_;
  OnBadLine on_bad_;
  BadLines bad_;
};

/// Feeds lines to a filter that works in batches: `add` takes a line, `flush` writes the results of
/// all waiting lines. flush is called when the next line would block, at the end, and before an
/// error of a line is passed on, so that results of earlier lines are not lost.
void feed_lines(TextLines& lines, const std::function<void(const std::string& line)>& add,
                const std::function<void()>& flush);

/// The flags for files and invalid lines.
struct FilterFlags {
  std::string input = "-", output = "-";
  std::string on_bad = "stop";

  OnBadLine policy() const;
};
void add_filter_flags(CLI::App& verb, FilterFlags& flags, const std::string& what);

/// The flag --cpu-threads; 0: all.
void add_thread_flag(CLI::App& verb, int& threads);

/// Prints a note or an error on standard error. It may quote files, so what would control a
/// terminal is escaped.
void print_note(std::string_view text);

}  // namespace heed::cli

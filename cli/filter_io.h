// What filters share: lines in with a policy for bad ones, text out to a pipe or a file, and an end
// that leaves nothing half done when somebody presses Ctrl-C or closes the pipe.
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

/// Thrown to unwind when a signal asks for the end, or when nobody reads the output any more.
struct Stopped {
  int signal;
};

/// Runs the work of a filter. A signal ends it at its next line; what it opened is then put away,
/// and the process ends as the signal would have ended it. A second signal ends it at once.
void run_filter(const std::function<void()>& work);

/// Throws Stopped if a signal has come.
void check_signals();

/// Text to standard output ("-") or to a file that appears when it is whole. Pipes and devices are
/// written to as they are.
class Output {
 public:
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Writes, for readers to see at once.
  void write(std::string_view text);
  /// Makes the file appear.
  void commit();

 private:
  std::string name_;
  int descriptor_ = -1;                   // of a stream
  std::unique_ptr<io::AtomicFile> file_;  // of a file
};

/// What becomes of a line that is no text.
enum class OnBadLine : std::uint8_t { stop, skip, mend };

/// Lines of text, one by one.
class TextLines {
 public:
  TextLines(const std::string& path, OnBadLine on_bad) : reader_(path), on_bad_(on_bad) {}

  /// The next line: empty for one that is skipped, so that answers keep their places. False at the
  /// end. A bad line that stops throws heed::Error.
  bool next(std::string& line);
  /// Whether next() would have to wait for somebody: then it is time to answer.
  bool would_wait() const;
  /// "standard input:17"
  std::string place() const { return reader_.place(); }
  /// What was wrong with lines that were skipped or mended; "" if none was.
  std::string describe_bad() const { return bad_.describe(); }

 private:
  io::LineReader reader_;
  OnBadLine on_bad_;
  BadLines bad_;
};

/// Feeds lines to a filter that works in batches: `add` takes a line, `flush` answers all that
/// wait. Answers are flushed where the next line would have to be waited for, at the end, and
/// before an error of a line is passed on, so that a bad line takes nothing from those before it.
void feed_lines(TextLines& lines, const std::function<void(const std::string& line)>& add,
                const std::function<void()>& flush);

/// The flags of files and of bad lines.
struct FilterFlags {
  std::string input = "-", output = "-";
  std::string on_bad = "stop";

  OnBadLine policy() const;
};
void add_filter_flags(CLI::App& verb, FilterFlags& flags, const std::string& what);

/// Prints a note for people on standard error.
void print_note(std::string_view text);

}  // namespace heed::cli

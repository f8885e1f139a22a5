// The access log: a JSON line per request, with what was asked for and how it ended, never with
// texts or keys. A thread of its own writes it, so that a slow disk or a full pipe holds no
// request. If it is too slow for all lines, some are left out, and a line says how many.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "heed/serve/exchange.h"

namespace heed::serve {

/// What the transport knows about an answer.
struct AnswerFacts {
  int status = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
  bool is_complete = true;  ///< Whether the client got all of it.
};

class AccessLog {
 public:
  /// A file that is appended to, "-" for standard error, or "" for no log.
  explicit AccessLog(std::string path);
  /// Writes what waits, but does not wait for ever.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void add(const HttpRequest& request, const Facts& facts, const AnswerFacts& answer);
  /// Opens the file again, which may have been renamed. Lines that wait go to the old one.
  void reopen();
  /// Waits until all lines are written.
  void flush();

 private:
  struct File {
    int descriptor;
    ~File();
  };
  struct Lines {
    std::shared_ptr<File> file;
    std::string text;
  };
  void run();
  void write(const Lines& lines);
  bool is_ready(const File& file);

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<File> file_;
  std::deque<Lines> waiting_;
  std::size_t bytes_ = 0;  // that wait
  std::int64_t lost_ = 0;
  bool is_writing_ = false, is_ending_ = false;
  std::thread thread_;
};

/// The line of a request, with its line end.
std::string log_line(const HttpRequest& request, const Facts& facts, const AnswerFacts& answer,
                     const std::string& time);

}  // namespace heed::serve

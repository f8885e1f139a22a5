// Reads text files line by line: plain, gzip or standard input ("-"). The whole file is never in
// memory. The content of lines, including the encoding, is up to the caller.
//
//   io::LineReader reader("corpus.en.gz");
//   for (std::string line; reader.next(line);) use(line);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/io/input.h"

namespace heed::io {

/// The default limit of the length of a line: a file with longer lines is hardly text.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

/// Reads the lines of one file in order.
class LineReader {
 public:
  /// Opens a file, or throws heed::Error. A line of more than max_line_bytes is an error.
  explicit LineReader(const std::filesystem::path& path, std::size_t max_line_bytes = kMaxLineBytes,
                      ByteOrderMark mark = ByteOrderMark::remove);

  /// Reads the next line into `line`, without its end ("\n" or "\r\n"); returns false if there is
  /// none. Text after the last line end is a line too.
  bool next(std::string& line);
  /// True if a whole line was read from the file, so that next() need not wait for more.
  bool has_line();
  /// The number of the last line that next() returned, from 1; 0 before the first.
  std::int64_t line_number() const { return line_number_; }
  /// The name of the file in messages: its path, or "standard input".
  const std::string& name() const { return input_.name(); }
  /// The place of the last line that next() returned: "corpus.en:17".
  std::string place() const;

 private:
  bool refill();

  Input input_;
  std::size_t max_line_bytes_;
  std::int64_t line_number_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // the bytes of buffer_ not returned yet: [begin_, end_)
  std::size_t end_ = 0;
};

}  // namespace heed::io

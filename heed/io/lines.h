// Text files line by line: plain or gzip, or standard input ("-"); never the whole file at once.
// What a line means, its encoding too, is the caller's affair.
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

/// The longest line that is read unless told otherwise: beyond that a file is hardly text.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

/// Reads the lines of one file in order.
class LineReader {
 public:
  /// Opens a file, or throws heed::Error; a line of more than max_line_bytes will be an error.
  explicit LineReader(const std::filesystem::path& path,
                      std::size_t max_line_bytes = kMaxLineBytes);

  /// Puts the next line, without its end ("\n" or "\r\n"), into `line`; false when there is none.
  /// Text behind the last line end is a line too.
  bool next(std::string& line);
  /// Whether next() has a whole line at hand and need not wait for more of the file.
  bool has_line() const;
  /// The number of the line that next() gave last, from 1; 0 before the first.
  std::int64_t line_number() const { return line_number_; }
  /// What messages call the file: its path, or "standard input".
  const std::string& name() const { return input_.name(); }
  /// "corpus.en:17": where the line that next() gave last stands.
  std::string place() const;

 private:
  bool refill();

  Input input_;
  std::size_t max_line_bytes_;
  std::int64_t line_number_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // the bytes of buffer_ not handed out: [begin_, end_)
  std::size_t end_ = 0;
};

}  // namespace heed::io

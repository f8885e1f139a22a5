#include "heed/io/lines.h"

#include <cstring>

#include "heed/base/error.h"

namespace heed::io {

LineReader::LineReader(const std::filesystem::path& path, std::size_t max_line_bytes)
    : input_(path), max_line_bytes_(max_line_bytes), buffer_(std::size_t{64} << 10) {}

bool LineReader::refill() {
  begin_ = 0;
  end_ = input_.read(buffer_);
  return end_ > 0;
}

bool LineReader::next(std::string& line) {
  line.clear();
  bool found = false;
  while (begin_ < end_ || refill()) {
    if (!found) ++line_number_;
    found = true;
    const char* const from = buffer_.data() + begin_;
    const auto* const stop = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    const std::size_t size =
        stop == nullptr ? end_ - begin_ : static_cast<std::size_t>(stop - from);
    HEED_CHECK(line.size() + size <= max_line_bytes_,
               "[lines] {}: the line has more than {} bytes: is this a text file?", place(),
               max_line_bytes_);
    line.append(from, size);
    begin_ += size + (stop == nullptr ? 0 : 1);
    if (stop == nullptr) continue;
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }
  return found;
}

bool LineReader::has_line() const {
  return std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) != nullptr;
}

std::string LineReader::place() const { return fmt::format("{}:{}", name(), line_number_); }

}  // namespace heed::io

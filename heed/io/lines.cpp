#include "heed/io/lines.h"

#include <cstring>
#include <span>
#include <utility>

#include "heed/base/error.h"

namespace heed::io {

LineReader::LineReader(const std::filesystem::path& path, std::size_t max_line_bytes,
                       ByteOrderMark mark)
    : input_(path, mark), max_line_bytes_(max_line_bytes), buffer_(std::size_t{64} << 10) {}

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

bool LineReader::has_line() {
  for (std::size_t searched = begin_;;) {
    if (std::memchr(buffer_.data() + searched, '\n', end_ - searched) != nullptr) return true;
    // Decompression may have made more than the buffer could take.
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    searched = end_;
    if (end_ == buffer_.size() && end_ <= max_line_bytes_) buffer_.resize(2 * buffer_.size());
    const std::size_t more = input_.read_buffered(std::span(buffer_).subspan(end_));
    if (more == 0) return false;
    end_ += more;
  }
}

std::string LineReader::place() const { return fmt::format("{}:{}", name(), line_number_); }

}  // namespace heed::io

// read(2) and, for gzip, zlib's inflate. zlib's own gzread is not used: it waits until its buffer
// is full, so a filter that reads a pipe would answer only at its end.
#include "heed/io/input.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/io/retry.h"

namespace heed::io {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;
constexpr unsigned char kMagic[2] = {0x1f, 0x8b};
constexpr std::string_view kMark = "\xEF\xBB\xBF";

}  // namespace

class Input::State {
 public:
  State(const std::filesystem::path& path, ByteOrderMark mark)
      : is_stdin_(path == "-"),
        name_(is_stdin_ ? "standard input" : path.string()),
        at_start_(mark == ByteOrderMark::remove) {
    descriptor_ = is_stdin_ ? STDIN_FILENO
                            : retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    if (descriptor_ < 0) fail_with_errno("open");
  }
  ~State() {
    if (unpacking_) ::inflateEnd(&zlib_);
    if (!is_stdin_) ::close(descriptor_);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::size_t read(std::span<char> buffer) {
    check_interrupt();
    if (!std::exchange(at_start_, false)) return read_on(buffer);
    const std::size_t n = read_start(buffer);
    const std::string_view start(buffer.data(), n);
    if (!start.starts_with(kMark)) return n;
    if (n == kMark.size()) return read_on(buffer);
    std::memmove(buffer.data(), buffer.data() + kMark.size(), n - kMark.size());
    return n - kMark.size();
  }
  std::size_t read_buffered(std::span<char> buffer) {
    if (!looked_) return 0;
    if (unpacking_) return unpack(buffer, false);
    return take_waiting(buffer);
  }
  const std::string& name() const { return name_; }

 private:
  std::size_t read_on(std::span<char> buffer) {
    if (!looked_) look();
    if (unpacking_) return unpack(buffer, true);
    if (waiting_ > 0) return take_waiting(buffer);
    return read_raw(buffer.data(), buffer.size());
  }

  // Waits for more only if what is there may be the beginning of a mark.
  std::size_t read_start(std::span<char> buffer) {
    std::size_t n = read_on(buffer);
    while (n > 0 && n < kMark.size() && n < buffer.size() &&
           kMark.starts_with(std::string_view(buffer.data(), n))) {
      const std::size_t more = read_on(buffer.subspan(n));
      if (more == 0) break;
      n += more;
    }
    return n;
  }

  [[noreturn]] void fail_with_errno(const char* verb) const {
    const int code = errno;
    fail("[file] cannot {} {}: {}", verb, name_, std::generic_category().message(code));
  }

  // Does not read again after the end, so that one Ctrl-D is enough at a terminal.
  std::size_t read_raw(char* to, std::size_t size) {
    if (ended_) return 0;
    const ssize_t n = retry([&] { return ::read(descriptor_, to, size); });
    if (n < 0) fail_with_errno("read");
    raw_bytes_ += static_cast<std::size_t>(n);
    ended_ = n == 0;
    return static_cast<std::size_t>(n);
  }

  // Reads the first block and decides whether it is compressed. It waits for a second byte only if
  // the first one could begin a gzip file, so that an empty line that is typed is answered at once.
  void look() {
    looked_ = true;
    waiting_ = read_raw(block_.data(), block_.size());
    const auto is_magic = [&](std::size_t i) {
      return static_cast<unsigned char>(block_[i]) == kMagic[i];
    };
    if (waiting_ == 1 && is_magic(0)) waiting_ += read_raw(block_.data() + 1, block_.size() - 1);
    if (waiting_ < 2 || !is_magic(0) || !is_magic(1)) return;
    constexpr int kGzipOnly = 16;
    if (::inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
    unpacking_ = true;
    offer_block();
  }

  std::size_t take_waiting(std::span<char> buffer) {
    const std::size_t n = std::min(waiting_, buffer.size());
    std::copy_n(block_.data() + taken_, n, buffer.data());
    taken_ += n;
    waiting_ -= n;
    return n;
  }

  void offer_block() {
    zlib_.next_in = reinterpret_cast<Bytef*>(block_.data());
    zlib_.avail_in = static_cast<uInt>(std::exchange(waiting_, 0));
  }

  // Returns 0 instead of reading more of the file, unless it may.
  std::size_t unpack(std::span<char> buffer, bool may_read) {
    const auto room =
        static_cast<uInt>(std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max()));
    zlib_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    zlib_.avail_out = room;
    while (zlib_.avail_out == room && room > 0) {
      // A full buffer may have left bytes in zlib that need no further input.
      if (std::exchange(zlib_is_full_, false)) {
        step();
        continue;
      }
      if (zlib_.avail_in == 0) {
        if (!may_read) return 0;
        waiting_ = read_raw(block_.data(), block_.size());
        offer_block();
        if (zlib_.avail_in == 0) {
          HEED_CHECK(between_members_,
                     "[file] {}: the compressed data end too early, at byte {}: the file is cut "
                     "off; copy or download it again",
                     name_, raw_bytes_);
          return 0;
        }
      }
      if (between_members_ && !begin_member()) continue;
      step();
    }
    return room - zlib_.avail_out;
  }

  // A gzip file may consist of several members, one after another. Tapes and block devices fill
  // their last block with zero bytes, which gzip(1) ignores too; anything else is refused, because
  // it may be the rest of a damaged file.
  bool begin_member() {
    while (zlib_.avail_in > 0 && *zlib_.next_in == 0) ++zlib_.next_in, --zlib_.avail_in;
    if (zlib_.avail_in == 0) return false;
    HEED_CHECK(*zlib_.next_in == kMagic[0],
               "[file] {}: bytes that are not gzip follow the compressed data at byte {}: the file "
               "is damaged, or something was appended to it; `gzip -dc` ignores such bytes",
               name_, raw_bytes_ - zlib_.avail_in);
    ::inflateReset(&zlib_);
    between_members_ = false;
    return true;
  }

  void step() {
    const int code = ::inflate(&zlib_, Z_SYNC_FLUSH);
    between_members_ = code == Z_STREAM_END;
    zlib_is_full_ = code == Z_OK && zlib_.avail_out == 0;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    // Z_BUF_ERROR only means that more input is needed.
    HEED_CHECK(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR,
               "[file] {}: the compressed data are damaged before byte {} ({})", name_,
               raw_bytes_ - zlib_.avail_in,
               zlib_.msg == nullptr ? "zlib gives no reason" : zlib_.msg);
  }

  bool is_stdin_;
  std::string name_;
  bool at_start_;  // nothing was returned yet, and a mark is to be removed
  int descriptor_ = -1;
  bool ended_ = false;
  bool looked_ = false;
  bool unpacking_ = false;
  bool between_members_ = false;
  bool zlib_is_full_ = false;  // it filled the caller's buffer and may have more
  z_stream zlib_{};
  std::size_t raw_bytes_ = 0;  // read so far, before decompression
  std::size_t waiting_ = 0;    // bytes of block_ not returned yet
  std::size_t taken_ = 0;
  std::array<char, kBlock> block_;
};

Input::Input(const std::filesystem::path& path, ByteOrderMark mark)
    : state_(std::make_unique<State>(path, mark)) {}
Input::~Input() = default;
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;

std::size_t Input::read(std::span<char> buffer) { return state_->read(buffer); }
std::size_t Input::read_buffered(std::span<char> buffer) { return state_->read_buffered(buffer); }
const std::string& Input::name() const { return state_->name(); }

std::string read_input(const std::filesystem::path& path, std::size_t max_bytes) {
  Input input(path);
  std::string text;
  while (true) {
    const std::size_t used = text.size();
    text.resize(used + kBlock);
    const std::size_t n = input.read(std::span(text).subspan(used));
    text.resize(used + n);
    HEED_CHECK(text.size() <= max_bytes, "[file] {} is larger than {} bytes, the limit",
               input.name(), max_bytes);
    if (n == 0) return text;
  }
}

}  // namespace heed::io

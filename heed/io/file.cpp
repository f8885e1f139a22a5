// POSIX files: mmap, and the steps write, fsync, rename, fsync of AtomicFile.
#include "heed/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/retry.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

// Owns a descriptor that is only read from, and closes it.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : value_(retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC); })) {
    if (value_ < 0) fail_with_errno("open", path);
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

int sync_descriptor(int descriptor) {
  return retry([=] { return ::fsync(descriptor); });
}

// Gives a file without a name this one; false if it is in use.
bool give_name(int descriptor, const fs::path& path, const fs::path& target) {
  const std::string source = fmt::format("/proc/self/fd/{}", descriptor);
  if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    return true;
  }
  if (errno != EEXIST) fail_with_errno("write", target);
  return false;
}

// Puts a complete file in place of the target; false if it is not there under this name.
bool put_in_place(const fs::path& path, const fs::path& target) {
  if (::rename(path.c_str(), target.c_str()) == 0) return true;
  if (errno != ENOENT) fail_with_errno("replace", target);
  return false;
}

}  // namespace

void sync_directory(const fs::path& directory) {
  const Descriptor descriptor(directory, O_RDONLY | O_DIRECTORY);
  // EINVAL means that the file system cannot sync directories; nothing more can be done.
  if (sync_descriptor(descriptor.get()) != 0 && errno != EINVAL) fail_with_errno("sync", directory);
}

std::shared_ptr<const MappedFile> MappedFile::open(const fs::path& path) {
  const Descriptor descriptor(path, O_RDONLY);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail_with_errno("look at", path);
  HEED_CHECK(S_ISREG(status.st_mode), "[file] cannot map {}: {}", path.string(),
             S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  const std::byte* data = nullptr;
  if (size > 0) {  // mmap does not accept length 0
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
    if (address == MAP_FAILED) fail_with_errno("map", path);
    data = static_cast<const std::byte*>(address);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, {data, size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::forget(std::span<const std::byte> part) const {
  // Only whole pages: the others may have bytes that are needed.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<std::size_t>(part.data() - bytes_.data());
  const std::size_t first = (begin + page - 1) / page * page;
  const std::size_t end = (begin + part.size()) / page * page;
  if (first >= end) return;
  ::madvise(const_cast<std::byte*>(bytes_.data() + first), end - first, MADV_DONTNEED);  // a hint
}

std::string read_file(const fs::path& path, std::size_t max_bytes) {
  const Descriptor descriptor(path, O_RDONLY);
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  std::string text;
  while (true) {
    const std::size_t used = text.size();
    text.resize(used + kBlock);
    const ssize_t n = ::read(descriptor.get(), text.data() + used, kBlock);
    if (n < 0 && errno != EINTR) fail_with_errno("read", path);
    text.resize(used + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    HEED_CHECK(text.size() <= max_bytes, "[file] {} is larger than {} bytes, the limit",
               path.string(), max_bytes);
    if (n == 0) return text;
  }
}

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target)) {
  HEED_CHECK(target_.has_filename(), "[file] cannot write to '{}': it has no file name",
             target_.string());
  std::error_code ignored;
  if (fs::is_symlink(target_, ignored)) target_ = fs::weakly_canonical(target_, ignored);
  HEED_CHECK(!fs::is_symlink(target_, ignored),
             "[file] cannot write {}: it is a broken symbolic link", target_.string());
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  HEED_CHECK(!exists || S_ISREG(status.st_mode), "[file] cannot write {}: {}", target_.string(),
             S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
  descriptor_ = open_unnamed(directory_of(target_));
  if (descriptor_ < 0) std::tie(descriptor_, temporary_) = open_temporary(directory_of(target_));
  // Fails on a file system without permissions; this is ignored.
  if (exists) static_cast<void>(::fchmod(descriptor_, status.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  HEED_ASSERT(descriptor_ >= 0);
  write_all(descriptor_, bytes, target_);
}

void AtomicFile::rewrite(std::size_t offset, std::string_view text) {
  HEED_ASSERT(descriptor_ >= 0);
  while (!text.empty()) {
    const ssize_t n = ::pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno("write", target_);
    text.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::size_t>(n);
  }
}

void AtomicFile::close() {
  // An interrupted close has closed the file; its bytes are synced already.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    fail_with_errno("write", target_);
  }
}

// All writers of a target use one temporary name. Who finds it in use puts that file in place
// first: it is complete, and its writer has been killed or is about to do the same.
void AtomicFile::replace_target() {
  const bool is_shared = temporary_.empty();
  if (is_shared) {
    fs::path name = replacement_name(target_);
    while (!give_name(descriptor_, name, target_)) put_in_place(name, target_);
    temporary_ = std::move(name);  // a copy could fail, and the file would stay
  }
  if (!put_in_place(temporary_, target_) && !is_shared) fail_with_errno("replace", target_);
  temporary_.clear();
}

void AtomicFile::commit() {
  HEED_ASSERT(descriptor_ >= 0);
  if (sync_descriptor(descriptor_) != 0) fail_with_errno("sync", target_);
  // Only a file that replaces another has a temporary name. A kill just before the rename leaves
  // it, until the next writer of the target finds it.
  if (!temporary_.empty() || !give_name(descriptor_, target_, target_)) replace_target();
  close();
  sync_directory(directory_of(target_));  // else the rename may be lost in a power failure
}

void write_file(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace heed::io

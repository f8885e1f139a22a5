#include "heed/training/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/file.h"
#include "heed/io/folder.h"
#include "heed/io/paths.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint_";
constexpr std::string_view kTemporary = ".heed-checkpoint";  // one being written
constexpr std::string_view kDropped = ".heed-dropped";       // one being removed
constexpr const char* kNewLink = ".heed-link";

std::optional<std::int64_t> update_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix)) return {};
  std::int64_t update = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, update);
  if (error != std::errc() || rest != end) return {};
  return update;
}

}  // namespace

Checkpoints::Checkpoints(fs::path root, std::int64_t keep) : root_(std::move(root)), keep_(keep) {
  std::error_code error;
  fs::create_directories(root_, error);
  HEED_CHECK(!error && fs::is_directory(root_), "[train] cannot make the folder {}: {}",
             root_.string(), error ? error.message() : "a file of that name is in the way");
}

fs::path Checkpoints::folder(std::int64_t update) const {
  return root_ / fmt::format("{}{}", kPrefix, update);
}

void Checkpoints::remove_leftovers() const {
  std::vector<fs::path> found = {root_ / kTemporary, root_ / kDropped, root_ / kNewLink};
  for (const fs::path& path : io::list_folder(root_)) {
    if (io::is_leftover(path)) found.push_back(path);
  }
  for (const fs::path& path : found) {
    try {
      io::remove_tree(path);
    } catch (const Error&) {  // the next run tries again
    }
  }
}

void Checkpoints::write(std::int64_t update, bool best, FunctionRef<void(const fs::path&)> fill) {
  io::write_folder(folder(update), root_ / kTemporary, fill);
  settle(update, best);
}

void Checkpoints::settle(std::int64_t update, bool best) {
  link(kLastCheckpoint, update);
  if (best) link(kBestCheckpoint, update);
  io::sync_directory(root_);
  prune();
}

void Checkpoints::link(std::string_view name, std::int64_t update) const {
  const fs::path fresh = root_ / kNewLink, to = root_ / name;
  try {
    fs::remove(fresh);
    fs::create_directory_symlink(folder(update).filename(), fresh);
    fs::rename(fresh, to);
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove(fresh, ignored);
    fail("[train] cannot write the link {}: {}", to.string(), error.code().message());
  }
}

std::optional<fs::path> Checkpoints::linked(std::string_view name) const {
  const fs::path path = root_ / name;
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  if (error || !fs::is_directory(path)) return {};
  return root_ / target;
}

std::optional<fs::path> Checkpoints::last() const {
  const std::vector<std::int64_t> all = updates();
  if (all.empty()) return {};
  return folder(all.back());
}

std::vector<std::int64_t> Checkpoints::updates() const {
  std::vector<std::int64_t> found;
  for (const fs::path& path : io::list_folder(root_)) {
    const auto update = update_of(path);
    if (update && fs::is_directory(fs::symlink_status(path))) found.push_back(*update);
  }
  std::ranges::sort(found);
  return found;
}

void Checkpoints::prune() const {
  io::remove_tree(root_ / kDropped);
  if (keep_ == 0) return;
  std::vector<std::int64_t> all = updates();
  const auto extra = std::ssize(all) - keep_;
  for (std::int64_t i = 0; i < extra; ++i) {
    const fs::path path = folder(all[static_cast<std::size_t>(i)]);
    if (path == linked(kLastCheckpoint) || path == linked(kBestCheckpoint)) continue;
    fs::rename(path, root_ / kDropped);
    io::remove_tree(root_ / kDropped);
  }
}

}  // namespace heed

#include "heed/io/folder.h"

#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/file.h"
#include "heed/io/paths.h"

namespace heed::io {

namespace fs = std::filesystem;

namespace {

// Removes a folder at its start and at its end, however the end is reached: on a full disk, a
// partial folder would take the space that the next attempt needs.
class Removed {
 public:
  explicit Removed(const fs::path& folder) : folder_(folder) { remove(); }
  ~Removed() { remove(); }
  Removed(const Removed&) = delete;
  Removed& operator=(const Removed&) = delete;

 private:
  void remove() const noexcept {
    try {
      remove_tree(folder_);
    } catch (...) {  // there is nothing more to do
    }
  }

  const fs::path& folder_;
};

}  // namespace

void write_folder(const fs::path& target, const fs::path& temporary,
                  FunctionRef<void(const fs::path& folder)> fill) {
  HEED_CHECK(!fs::exists(target), "[folder] {} exists already: choose another name",
             target.string());
  const Removed removed(temporary);
  try {
    fs::create_directories(temporary);
    fill(temporary);
    sync_directory(temporary);
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error& error) {
    fail("[folder] cannot write {}: {}", target.string(), error.code().message());
  }
  sync_directory(directory_of(target));
}

void write_folder(const fs::path& target, FunctionRef<void(const fs::path& folder)> fill) {
  const fs::path place = target.has_filename() ? target : target.parent_path();
  fs::path temporary = place;
  temporary += ".heed-tmp";
  write_folder(place, temporary, fill);
}

}  // namespace heed::io

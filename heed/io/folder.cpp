#include "heed/io/folder.h"

#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/file.h"

namespace heed::io {

namespace fs = std::filesystem;

void write_folder(const fs::path& target, const fs::path& temporary,
                  FunctionRef<void(const fs::path& folder)> fill) {
  HEED_CHECK(!fs::exists(target), "[folder] {} exists already: choose another name",
             target.string());
  fs::remove_all(temporary);
  fs::create_directories(temporary);
  fill(temporary);
  sync_directory(temporary);
  fs::rename(temporary, target);
  sync_directory(directory_of(target));
}

}  // namespace heed::io

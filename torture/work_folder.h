// A folder for one case, removed with everything in it, and texts to train on.
#pragma once

#include <filesystem>
#include <string>

namespace heed::torture {

class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The prefix of small generated texts: .en and .zh (parallel), .tsv (labelled), and .test.* of
/// each. They are made at the first call.
const std::filesystem::path& small_corpus();

/// The bytes of a file.
std::string bytes_of(const std::filesystem::path& path);

}  // namespace heed::torture

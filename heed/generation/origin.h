// Where an imported model comes from: the files of its folder besides the weights, that is, its
// configs and tokenizer files. They stay with the model when it is converted or trained further, so
// that it is used as before and can be exported again.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed {

/// The folder, in a folder of heed's, with the files of the origin.
inline constexpr std::string_view kOriginFolder = "origin";

class Origin {
 public:
  /// The files of a folder that belong to a model; they are read when they are needed.
  explicit Origin(const std::filesystem::path& folder);
  /// Files that are made from something else when they are needed, such as the metadata of a GGUF
  /// file. Names may have folders: "1_Pooling/config.json".
  explicit Origin(std::function<std::vector<Tokenizer::File>()> make) : make_(std::move(make)) {}

  /// Reads all files now: for a run that is longer than the folder may exist.
  void hold();
  /// Replaces or adds a file; the others are held then.
  void replace(Tokenizer::File file);
  /// Removes files, by their names; the others are held then.
  void remove(std::span<const std::string_view> names);
  /// Writes all files into a folder that exists.
  void write(const std::filesystem::path& folder) const;

 private:
  std::vector<Tokenizer::File> read() const { return make_ ? make_() : files_; }

  std::function<std::vector<Tokenizer::File>()> make_;  // none if the files are held
  std::vector<Tokenizer::File> files_;                  // if they are held
};

}  // namespace heed

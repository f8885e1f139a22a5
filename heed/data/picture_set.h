// Labelled pictures of one size, read from the files that people have:
//
//   two files   MNIST's idx files, pictures and labels
//   one file    the binary form of CIFAR-10: 1 byte of label and 3072 of pixels for each picture
//   a folder    PNG and JPEG files, in one folder for each class
//
// Files may be compressed with gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/data/line_check.h"
#include "heed/io/fields.h"
#include "heed/pictures/picture.h"

namespace heed {

struct PictureSet {
  PictureShape shape = {};
  std::vector<std::uint8_t> bytes = {};   // [size, channels, height, width]
  std::vector<std::int32_t> labels = {};  // of each picture, an index into names
  std::vector<std::string> names = {};    // of the classes
  std::int64_t skipped = 0;               // files that could not be read

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  std::span<const std::uint8_t> picture(std::int64_t index) const;
};

/// How pictures of a folder are read.
struct PictureOptions {
  std::int64_t size = 32;     // side of the pictures of a folder, in pixels
  std::int64_t channels = 3;  // of the pictures of a folder: 1 or 3

  void fields(io::Fields& field);
};

/// What a set of pictures is read with.
struct PictureReading {
  PictureOptions pictures = {};
  OnBad on_bad = OnBad::stop;           // a file of a folder that cannot be read
  std::vector<std::string> names = {};  // classes in the order of their numbers; none: those found
};

/// Reads a set; one or two paths, as above.
PictureSet read_pictures(std::span<const std::string> paths, const PictureReading& reading = {});

/// The same for one of the forms.
PictureSet read_idx(const std::filesystem::path& pictures, const std::filesystem::path& labels);
/// The pictures of an idx file alone, [pictures, height, width] or [pictures, channels, height,
/// width]; the label of each is its number, without a name.
PictureSet read_idx_pictures(const std::filesystem::path& path);
/// Writes the pictures of a set as an idx file, without labels.
void write_idx_pictures(const PictureSet& set, const std::filesystem::path& path);
PictureSet read_cifar(const std::filesystem::path& path);
PictureSet read_picture_folder(const std::filesystem::path& folder, const PictureReading& reading);

}  // namespace heed

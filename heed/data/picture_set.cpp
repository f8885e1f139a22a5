#include "heed/data/picture_set.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/io/byte_reader.h"
#include "heed/io/file.h"
#include "heed/io/input.h"
#include "heed/io/paths.h"
#include "heed/pictures/picture_file.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSetBytes = std::size_t{1} << 34;

// ---- idx ----------------------------------------------------------------------------------------

// The numbers of idx files are big-endian.
std::int64_t big_endian(io::ByteReader& reader, std::string_view what) {
  std::int64_t value = 0;
  for (const std::byte byte : reader.take(4, what)) {
    value = value << 8 | std::to_integer<std::int64_t>(byte);
  }
  return value;
}

constexpr std::int64_t kIdxBytes = 0x0800;  // the type, unsigned bytes, in the upper half

// The sizes of the axes of an idx file of bytes; its content follows. There may be one axis more,
// if that is allowed.
std::vector<std::int64_t> idx_sizes(io::ByteReader& reader, int axes, bool or_one_more = false) {
  const std::int64_t magic = big_endian(reader, "the type");
  if (or_one_more && magic == kIdxBytes + axes + 1) ++axes;
  if (magic != kIdxBytes + axes) {
    reader.refuse_at(0,
                     "it begins with {:#010x}: an idx file of bytes with {} axes begins with "
                     "{:#010x}",
                     magic, axes, kIdxBytes + axes);
  }
  std::vector<std::int64_t> sizes;
  for (int axis = 0; axis < axes; ++axis) sizes.push_back(big_endian(reader, "a size"));
  return sizes;
}

// The rest of a file, which must be so many bytes.
std::span<const std::byte> content(io::ByteReader& reader, std::int64_t bytes) {
  if (static_cast<std::int64_t>(reader.left()) != bytes) {
    reader.refuse(
        "{} bytes follow, and the sizes before them make {}: the file is cut off or "
        "damaged",
        reader.left(), bytes);
  }
  return reader.take(reader.left(), "the content");
}

std::vector<std::string> numbers_as_names(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

// ---- folders ------------------------------------------------------------------------------------

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found = io::list_folder(folder);
  std::erase_if(found, [](const fs::path& path) { return !io::is_folder(path); });
  return found;
}

std::int32_t number_of(const std::string& name, const std::vector<std::string>& names,
                       const fs::path& folder) {
  const auto found = std::ranges::find(names, name);
  HEED_CHECK(found != names.end(),
             "[pictures] {} is a folder of the class '{}', which is not among {}: the classes must "
             "be those of the training set",
             folder.string(), name, fmt::join(names, ", "));
  return static_cast<std::int32_t>(found - names.begin());
}

}  // namespace

std::span<const std::uint8_t> PictureSet::picture(std::int64_t index) const {
  const auto each = static_cast<std::size_t>(shape.bytes());
  return std::span(bytes).subspan(static_cast<std::size_t>(index) * each, each);
}

void PictureOptions::fields(io::Fields& field) {
  field("size", size, "folders: side of a picture in pixels", {.min = 1, .max = 4096});
  field("channels", channels, "folders: 1 for grey, 3 for colour", {.min = 1, .max = 3});
}

PictureSet read_idx_pictures(const fs::path& path) {
  const std::string bytes = io::read_input(path, kMaxSetBytes);
  const std::string name = path.string();
  io::ByteReader reader(std::as_bytes(std::span(bytes)), "idx", name);
  std::vector<std::int64_t> sizes = idx_sizes(reader, 3, true);
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 1, 1);  // one channel
  PictureSet set{.shape = {sizes[1], sizes[2], sizes[3]}};
  HEED_CHECK(set.shape.height <= kMaxPictureSide && set.shape.width <= kMaxPictureSide,
             "[idx] {}: pictures of {} x {} pixels: at most {} x {} are read", name,
             set.shape.height, set.shape.width, kMaxPictureSide, kMaxPictureSide);
  HEED_CHECK(set.shape.channels == 1 || set.shape.channels == 3,
             "[idx] {}: pictures of {} channels: there must be 1 or 3", name, set.shape.channels);
  HEED_CHECK(sizes[0] > 0 && set.shape.places() > 0, "[idx] {}: there are no pictures in it", name);
  const auto values = content(reader, sizes[0] * set.shape.bytes());
  const auto* const first = reinterpret_cast<const std::uint8_t*>(values.data());
  set.bytes.assign(first, first + values.size());
  set.labels.resize(static_cast<std::size_t>(sizes[0]));
  std::iota(set.labels.begin(), set.labels.end(), 0);
  return set;
}

void write_idx_pictures(const PictureSet& set, const fs::path& path) {
  const auto [channels, height, width] = set.shape;
  std::vector<std::int64_t> sizes = {set.size(), height, width};
  if (channels != 1) sizes.insert(sizes.begin() + 1, channels);
  std::string head;
  const auto put = [&](std::int64_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(number >> shift & 255);
  };
  put(kIdxBytes + std::ssize(sizes));
  for (const std::int64_t size : sizes) put(size);
  io::AtomicFile file(path);
  file.write(head);
  file.write(std::as_bytes(std::span(set.bytes)));
  file.commit();
}

PictureSet read_idx(const fs::path& pictures, const fs::path& labels) {
  const std::string label_bytes = io::read_input(labels, kMaxSetBytes);
  const std::string picture_name = pictures.string(), label_name = labels.string();
  PictureSet set = read_idx_pictures(pictures);
  const std::int64_t size = set.size();
  set.labels.clear();
  io::ByteReader label_reader(std::as_bytes(std::span(label_bytes)), "idx", label_name);
  const std::int64_t count = idx_sizes(label_reader, 1)[0];
  HEED_CHECK(count == size,
             "[idx] {} has {} pictures, {} has {} labels: they do not belong "
             "together",
             picture_name, size, label_name, count);
  for (const std::byte label : content(label_reader, count)) {
    set.labels.push_back(std::to_integer<std::int32_t>(label));
  }
  set.names = numbers_as_names(1 + *std::ranges::max_element(set.labels));
  return set;
}

PictureSet read_cifar(const fs::path& path) {
  constexpr std::array<const char*, 10> kNames = {
      "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  PictureSet set{.shape = {3, 32, 32}, .names = {kNames.begin(), kNames.end()}};
  const auto each = static_cast<std::size_t>(set.shape.bytes()) + 1;
  const std::string bytes = io::read_input(path, kMaxSetBytes);
  HEED_CHECK(!bytes.empty() && bytes.size() % each == 0,
             "[cifar] {}: it has {} bytes: CIFAR-10's binary files have {} for each picture. Give "
             "such a file, a folder of pictures, or the two idx files of MNIST",
             path.string(), bytes.size(), each);
  for (std::size_t at = 0; at < bytes.size(); at += each) {
    const auto label = static_cast<std::uint8_t>(bytes[at]);
    HEED_CHECK(label < kNames.size(), "[cifar] {}: byte {}: label {}: there are 10 classes",
               path.string(), at, label);
    set.labels.push_back(label);
    set.bytes.insert(set.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + each));
  }
  return set;
}

PictureSet read_picture_folder(const fs::path& folder, const PictureReading& reading) {
  const PictureOptions& options = reading.pictures;
  PictureSet set{.shape = {options.channels, options.size, options.size}, .names = reading.names};
  const std::vector<fs::path> classes = folders_in(folder);
  HEED_CHECK(!classes.empty(),
             "[pictures] {} has no folders: it must have one for each class, with its PNG and JPEG "
             "files",
             folder.string());
  if (set.names.empty()) {
    for (const fs::path& one : classes) set.names.push_back(one.filename().string());
  }
  for (const fs::path& one : classes) {
    const std::int32_t label = number_of(one.filename().string(), set.names, one);
    for (const fs::path& file : io::list_folder(one)) {
      if (!is_picture_name(file)) continue;
      check_interrupt();
      try {
        const Picture picture =
            fitted(with_channels(read_picture(file), options.channels), options.size, options.size);
        set.bytes.insert(set.bytes.end(), picture.bytes.begin(), picture.bytes.end());
        set.labels.push_back(label);
      } catch (const Error&) {
        if (reading.on_bad == OnBad::stop) throw;
        ++set.skipped;
      }
    }
  }
  HEED_CHECK(set.size() > 0, "[pictures] {}: its folders have no PNG or JPEG file that can be read",
             folder.string());
  return set;
}

PictureSet read_pictures(std::span<const std::string> paths, const PictureReading& reading) {
  HEED_CHECK(paths.size() == 1 || paths.size() == 2,
             "[pictures] {} paths: give a folder, a file of CIFAR-10, or the pictures and the "
             "labels of MNIST",
             paths.size());
  if (paths.size() == 1 && io::is_folder(paths[0])) return read_picture_folder(paths[0], reading);
  PictureSet set = paths.size() == 1 ? read_cifar(paths[0]) : read_idx(paths[0], paths[1]);
  if (!reading.names.empty()) {
    HEED_CHECK(set.names.size() <= reading.names.size(),
               "[pictures] {} has {} classes, the training set {}: they must be the same", paths[0],
               set.names.size(), reading.names.size());
    set.names = reading.names;
  }
  return set;
}

}  // namespace heed

// Reads PNG and JPEG files.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "heed/pictures/picture.h"

namespace heed {

/// Whether the name ends in .png, .jpg or .jpeg, in any case.
bool is_picture_name(const std::filesystem::path& path);

/// Reads a PNG or JPEG file, recognised by its first bytes. Grey pictures have 1 channel, others 3;
/// transparency is dropped, 16-bit samples are rounded to 8. A damaged file, or one that is larger
/// than kMaxPictureSide, throws heed::Error.
Picture read_picture(const std::filesystem::path& path);

/// The same for the bytes of a file; `name` is used in messages.
Picture decode_picture(std::span<const std::byte> bytes, const std::string& name);

}  // namespace heed

// PNG and JPEG files for tests of what reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heed::test {

/// Pixels [height, width, channels] as a PNG file; 1 or 3 channels.
std::string png(std::int64_t height, std::int64_t width, std::span<const std::uint8_t> pixels);
/// The same as a JPEG file of the best quality.
std::string jpeg(std::int64_t height, std::int64_t width, std::span<const std::uint8_t> pixels);
/// A grey PNG file whose pixels all have one value.
std::string grey_png(std::int64_t height, std::int64_t width, std::uint8_t value);

}  // namespace heed::test

#include "tests/support/picture_files.h"

// jpeglib.h needs FILE and size_t.
#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace heed::test {

std::string png(std::int64_t height, std::int64_t width, std::span<const std::uint8_t> pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(height);
  image.width = static_cast<png_uint_32>(width);
  image.format = std::ssize(pixels) == height * width ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  if (png_image_write_get_memory_size(image, size, 0, pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error(image.message);
  }
  std::string file(size, '\0');
  if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error(image.message);
  }
  file.resize(size);
  return file;
}

std::string jpeg(std::int64_t height, std::int64_t width, std::span<const std::uint8_t> pixels) {
  const bool is_grey = std::ssize(pixels) == height * width;
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = is_grey ? 1 : 3;
  info.in_color_space = is_grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<std::uint8_t> copy(pixels.begin(), pixels.end());
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = copy.data() + info.next_scanline * static_cast<std::size_t>(width) *
                                     static_cast<std::size_t>(info.input_components);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return file;
}

std::string grey_png(std::int64_t height, std::int64_t width, std::uint8_t value) {
  return png(height, width,
             std::vector<std::uint8_t>(static_cast<std::size_t>(height * width), value));
}

}  // namespace heed::test

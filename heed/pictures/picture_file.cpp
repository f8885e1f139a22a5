#include "heed/pictures/picture_file.h"

#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/input.h"

namespace heed {
namespace {

// From [height, width, channels], as files have pixels, to [channels, height, width].
Picture by_channel(const PictureShape& shape, std::span<const std::uint8_t> pixels) {
  Picture picture{shape, std::vector<std::uint8_t>(pixels.size())};
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto places = static_cast<std::size_t>(shape.places());
  for (std::size_t i = 0; i < places; ++i) {
    for (std::size_t c = 0; c < channels; ++c) {
      picture.bytes[c * places + i] = pixels[i * channels + c];
    }
  }
  return picture;
}

void check_size(const std::string& name, std::int64_t height, std::int64_t width) {
  HEED_CHECK(height > 0 && width > 0 && height <= kMaxPictureSide && width <= kMaxPictureSide,
             "[picture] {}: it has {} x {} pixels; at most {} x {} are read", name, height, width,
             kMaxPictureSide, kMaxPictureSide);
}

// ---- PNG ----------------------------------------------------------------------------------------

// libpng's simple interface: it checks everything and returns errors as text.
Picture decode_png(std::span<const std::byte> bytes, const std::string& name) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  struct Release {
    png_image* image;
    ~Release() { png_image_free(image); }
  } const release{&image};
  const auto check = [&](int ok) {
    HEED_CHECK(ok != 0, "[picture] {}: {}: the PNG file is damaged", name, image.message);
  };
  check(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()));
  check_size(name, image.height, image.width);
  const bool is_grey = (image.format & PNG_FORMAT_FLAG_COLOR) == 0;
  image.format = is_grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const PictureShape shape{is_grey ? 1 : 3, image.height, image.width};
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  const png_color black{};  // behind what is transparent
  check(png_image_finish_read(&image, &black, pixels.data(), 0, nullptr));
  return by_channel(shape, pixels);
}

// ---- JPEG ---------------------------------------------------------------------------------------

// libjpeg reports errors by a function that must not return: it jumps back to decode_jpeg().
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void jpeg_failed(j_common_ptr info) {
  auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->back, 1);
}

// Damaged data is a warning to libjpeg, which then makes up the rest of the picture.
void jpeg_warned(j_common_ptr info, int level) {
  if (level < 0) jpeg_failed(info);
}

struct JpegDecoder {
  jpeg_decompress_struct info = {};
  JpegErrors errors = {};

  JpegDecoder() {
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jpeg_failed;
    errors.base.emit_message = jpeg_warned;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
};

// The two steps return false if libjpeg has failed. They hold no object with a destructor, which
// longjmp would skip.
bool begin_jpeg(JpegDecoder& decoder, std::span<const std::byte> bytes) {
  if (setjmp(decoder.errors.back) != 0) return false;
  jpeg_create_decompress(&decoder.info);
  jpeg_mem_src(&decoder.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&decoder.info, TRUE);
  decoder.info.out_color_space =
      decoder.info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  return true;
}

bool read_rows(JpegDecoder& decoder, std::uint8_t* pixels, std::size_t row_bytes) {
  if (setjmp(decoder.errors.back) != 0) return false;
  jpeg_start_decompress(&decoder.info);
  while (decoder.info.output_scanline < decoder.info.output_height) {
    JSAMPROW row = pixels + decoder.info.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoder.info, &row, 1);
  }
  jpeg_finish_decompress(&decoder.info);
  return true;
}

Picture decode_jpeg(std::span<const std::byte> bytes, const std::string& name) {
  JpegDecoder decoder;
  const auto check = [&](bool ok) {
    HEED_CHECK(ok, "[picture] {}: {}: the JPEG file is damaged", name, decoder.errors.message);
  };
  check(begin_jpeg(decoder, bytes));
  check_size(name, decoder.info.image_height, decoder.info.image_width);
  const PictureShape shape{decoder.info.out_color_space == JCS_GRAYSCALE ? 1 : 3,
                           decoder.info.image_height, decoder.info.image_width};
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.bytes()));
  check(read_rows(decoder, pixels.data(), static_cast<std::size_t>(shape.channels * shape.width)));
  return by_channel(shape, pixels);
}

bool starts_with(std::span<const std::byte> bytes, std::span<const std::uint8_t> magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

bool is_picture_name(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

Picture decode_picture(std::span<const std::byte> bytes, const std::string& name) {
  constexpr std::array<std::uint8_t, 4> kPng = {0x89, 'P', 'N', 'G'};
  constexpr std::array<std::uint8_t, 3> kJpeg = {0xff, 0xd8, 0xff};
  if (starts_with(bytes, kPng)) return decode_png(bytes, name);
  if (starts_with(bytes, kJpeg)) return decode_jpeg(bytes, name);
  fail("[picture] {}: it is neither a PNG nor a JPEG file", name);
}

Picture read_picture(const std::filesystem::path& path) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  const std::string bytes = io::read_input(path, kMaxBytes);
  return decode_picture(std::as_bytes(std::span(bytes)), path.string());
}

}  // namespace heed

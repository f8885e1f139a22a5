#include "cli/png.h"

#include "heed/base/error.h"

#ifdef HEED_WITH_RSVG

#include <cairo.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace heed::cli {
namespace {

constexpr double kScale = 2.0;       // makes letters of 7 points sharp
constexpr double kMostPoints = 6e7;  // 240 MB while drawing
constexpr double kLongest = 30000;   // cairo's limit is 32767

struct Release {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(GError* error) const { g_error_free(error); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

// The message of an error, which is freed.
std::string message_of(GError* error) {
  const Owned<GError> owned(error);
  return error != nullptr ? error->message : "unknown error";
}

cairo_status_t append(void* to, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string png_of(const std::string& svg) {
  GError* error = nullptr;
  const Owned<RsvgHandle> handle(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  HEED_CHECK(handle != nullptr, "[png] librsvg cannot read the picture: {}", message_of(error));
  double width = 0.0, height = 0.0;
  HEED_CHECK(rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height) != 0,
             "[png] the picture has no size");
  const double scale = std::min(
      {kScale, std::sqrt(kMostPoints / (width * height)), kLongest / width, kLongest / height});
  const RsvgRectangle whole{0.0, 0.0, std::ceil(width * scale), std::ceil(height * scale)};
  const Owned<cairo_surface_t> surface(cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(whole.width), static_cast<int>(whole.height)));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  HEED_CHECK(rsvg_handle_render_document(handle.get(), context.get(), &whole, &error) != 0,
             "[png] librsvg cannot draw the picture: {}", message_of(error));
  std::string png;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  HEED_CHECK(status == CAIRO_STATUS_SUCCESS, "[png] cairo cannot write the picture: {}",
             cairo_status_to_string(status));
  return png;
}

}  // namespace heed::cli

#else

namespace heed::cli {

std::string png_of(const std::string&) {
  throw Error(
      "[png] this heed was built without librsvg: install librsvg2-dev and build again, or write "
      ".svg, which browsers show");
}

}  // namespace heed::cli

#endif

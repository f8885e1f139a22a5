// Pictures with captions, and where in a picture the words of its caption are:
//
//   pictures   an idx file of bytes: [pictures, height, width], or with channels before the height
//   captions   a text file, a line for each picture
//   boxes      a text file, a line for each picture: for each word of its caption the part of the
//              picture that it names, "top,left,height,width" in pixels, or "-"
//
// Files may be compressed with gzip. compose_picture() makes such data from labelled pictures.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/picture_set.h"
#include "heed/io/codec.h"

namespace heed {

struct CaptionedPictures {
  PictureSet pictures;                // a picture's label is its number
  std::vector<std::string> captions;  // one each
};

/// Reads pictures and captions. Numbers that differ, an empty caption and text that is not UTF-8
/// are errors.
CaptionedPictures read_captioned(const std::filesystem::path& pictures,
                                 const std::filesystem::path& captions);

/// The lines of captions for so many pictures.
std::vector<std::string> read_captions(const std::filesystem::path& path, std::int64_t pictures);

/// A part of a picture in pixels.
struct PixelBox {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

/// The parts that the words of a caption name; none: a word names nothing that can be seen.
using WordBoxes = std::vector<std::optional<PixelBox>>;

/// "-" and "top,left,height,width", a space between two.
std::string boxes_line(const WordBoxes& boxes);

/// Reads the boxes of captions: a line for each, with as many entries as the caption has words.
std::vector<WordBoxes> read_boxes(const std::filesystem::path& path,
                                  const std::vector<std::string>& captions);

/// The share of a grid of cells' weights that lies in a box of a picture: a cell counts with the
/// share of its pixels that are in it.
double weight_inside(const std::vector<float>& weights, std::array<std::int64_t, 2> cells,
                     const PictureShape& shape, const PixelBox& box);

// ---- made pictures ------------------------------------------------------------------------------

enum class CaptionLanguage : std::uint8_t { en, zh };

/// The names that the program uses.
constexpr std::array<io::EnumName<CaptionLanguage>, 2> enum_names(CaptionLanguage) {
  return {{{CaptionLanguage::en, "en"}, {CaptionLanguage::zh, "zh"}}};
}

struct ComposeOptions {
  std::int64_t canvas = 0;  // side of a picture in pixels; 0: twice that of the given ones
  std::int64_t most = 4;    // given pictures in one, at most; there is at least one
  CaptionLanguage language = CaptionLanguage::en;
  std::uint64_t seed = 1;
};

struct ComposedPicture {
  Picture picture;
  std::string caption;
  WordBoxes boxes;  // of the words that name a given picture
};

/// Makes one picture, which depends only on the set, the options and the number: 1 to `most`
/// pictures of the set on black, each somewhere in its own quarter. The caption names their classes
/// and quarters in reading order: "a seven at the top left and a two at the bottom right".
ComposedPicture compose_picture(const PictureSet& set, const ComposeOptions& options,
                                std::int64_t number);

}  // namespace heed

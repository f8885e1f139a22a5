// A picture as points: SVG to PNG, by librsvg and cairo where the program was built with them.
#pragma once

#include <string>

namespace heed::cli {

/// The content of a PNG file, two points for each of the SVG's, fewer if it is huge; throws where
/// the program was built without librsvg.
std::string png_of(const std::string& svg);

}  // namespace heed::cli

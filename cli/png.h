// Converts SVG to PNG by librsvg and cairo, if the program was built with them.
#pragma once

#include <string>

namespace heed::cli {

/// The content of a PNG file, with two pixels for each point of the SVG, fewer if it is huge;
/// throws if the program was built without librsvg.
std::string png_of(const std::string& svg);

}  // namespace heed::cli

// Numbers and strings as Python writes them, so that reports are equal to those of sacreBLEU, byte
// for byte.
#pragma once

#include <string>
#include <string_view>

namespace heed::evaluation {

/// f"{value:.{digits}f}"
std::string fixed(double value, int digits);

/// repr(value): the shortest text that reads back as the same number, such as 1e-05.
std::string shortest(double value);

/// json.dumps(text): in quotes, with everything but printable ASCII escaped.
std::string ascii_json(std::string_view text);

}  // namespace heed::evaluation

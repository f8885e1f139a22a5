// The duplication task (Kitaev, Kaiser and Levskaya 2020, Reformer, section 5): examples 0 w 0 w,
// where w is a random word. The second half can be predicted by a model that finds the first.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

struct DuplicateOptions {
  std::int64_t examples = 10000;
  std::int64_t length = 127;   // |w|, so that an example has 2 |w| + 2 tokens
  std::int64_t symbols = 127;  // different symbols in w
  std::uint64_t seed = 1;
};

/// A text of characters, in which the end of a line is the 0: an empty line, and then every w on
/// two lines. Blocks of 2 |w| + 2 characters are examples.
std::string duplicate_text(const DuplicateOptions& options);

}  // namespace heed

#include "heed/data/duplicates.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

constexpr std::uint32_t kAscii = 94;       // from ! to ~
constexpr std::uint32_t kFurther = 0x100;  // Latin letters with marks, and what follows them

char32_t symbol(std::uint32_t number) {
  return number < kAscii ? U'!' + number : kFurther + number - kAscii;
}

}  // namespace

std::string duplicate_text(const DuplicateOptions& options) {
  HEED_CHECK(options.examples >= 0 && options.length >= 1, "[corpus] {} examples of {} symbols",
             options.examples, options.length);
  HEED_CHECK(options.symbols >= 1 && options.symbols <= 1000,
             "[corpus] {} symbols: give a number from 1 to 1000", options.symbols);
  std::string text = "\n";
  for (std::int64_t example = 0; example < options.examples; ++example) {
    const RandomStream random{options.seed, static_cast<std::uint64_t>(example)};
    std::string word;
    for (std::int64_t i = 0; i < options.length; ++i) {
      unicode::append(word, symbol(random.below(static_cast<std::uint64_t>(i),
                                                static_cast<std::uint32_t>(options.symbols))));
    }
    text += word + "\n" + word + "\n";
  }
  return text;
}

}  // namespace heed

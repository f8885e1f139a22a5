// Fuzzes the reader of parallel text: any two files are either rejected with a heed::Error or give
// pairs that are usable for training, and every line is counted.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/data/parallel_text.h"

namespace {

using namespace heed;

using fuzz::MemoryFile;
using fuzz::require;

constexpr std::size_t kMaxBytes = 64;

void check(ParallelText text) {
  std::int64_t last = 0;
  for (TextPair pair; text.next(pair);) {
    require(pair.line > last);
    last = pair.line;
    require(!find_fault(pair.source, kMaxBytes) && !find_fault(pair.target, kMaxBytes));
  }
  const TextReport& report = text.report();
  require(report.lines == report.kept + report.bad.total());
  require(!describe(report).empty());
}

}  // namespace

// The first byte determines the length of the first file; the rest is the second file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t cut = std::min<std::size_t>(data[0], bytes.size());
  const MemoryFile source(bytes.substr(0, cut)), target(bytes.substr(cut));
  for (const OnBad on_bad : {OnBad::stop, OnBad::skip}) {
    const ParallelTextOptions options{.on_bad = on_bad, .max_line_bytes = kMaxBytes};
    try {
      check(ParallelText(source.path(), target.path(), options));
    } catch (const Error&) {
    }
    try {
      check(ParallelText(target.path(), TextColumns{2, 1}, options));
    } catch (const Error&) {
    }
  }
  return 0;
}

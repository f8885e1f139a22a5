// Fuzzes the reading of word alignments: any text is either rejected with a heed::Error or read
// into links that agree fully with themselves.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "heed/base/error.h"
#include "heed/evaluation/alignment.h"

namespace {

using namespace heed::evaluation;

void check(std::string_view text, std::int32_t first) {
  const std::vector<Links> sentences = parse_alignments(text, "text", first);
  const AlignmentScore score = score_alignments(sentences, sentences);
  if (score.error_rate != 0 || score.links != score.possible) std::abort();
  for (const Links& links : sentences) {
    for (const Link& link : links) {
      if (link.source < 0 || link.target < 0) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const std::int32_t first : {0, 1}) {
    try {
      check({reinterpret_cast<const char*>(data), size}, first);
    } catch (const heed::Error&) {
    }
  }
  return 0;
}

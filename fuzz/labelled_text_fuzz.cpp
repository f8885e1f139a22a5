// Fuzzes the reading of labelled text: any file is either rejected with a heed::Error or gives
// texts with labels and tokens that exist, and batches of them.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/data/labelled_text.h"
#include "heed/text/characters.h"

namespace {

using namespace heed;
using fuzz::require;

void check(const LabelledCorpus& corpus, const Tokenizer& tokenizer) {
  require(corpus.labels.size() == static_cast<std::size_t>(corpus.size()));
  for (const std::int32_t label : corpus.labels) {
    require(label >= 0 && label < std::ssize(corpus.names));
  }
  if (corpus.size() == 0) return;
  std::vector<std::int32_t> all(static_cast<std::size_t>(corpus.size()));
  std::iota(all.begin(), all.end(), 0);
  const LabelledBatch batch = make_batch(corpus, all);
  require(batch.tokens.size(0) == corpus.size());
  for (const std::int64_t id : batch.tokens.values<std::int64_t>()) {
    require(id >= 0 && id < tokenizer.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile file(bytes);
  const Characters tokenizer(count_characters("abcdefgh "));
  for (const OnBad on_bad : {OnBad::stop, OnBad::skip}) {
    for (const bool given : {false, true}) {
      LabelledOptions options{.max_length = 20, .on_bad = on_bad};
      if (given) options.labels = {"good", "bad"};
      try {
        check(read_labelled(file.path(), tokenizer, options), tokenizer);
      } catch (const Error&) {
      }
    }
  }
  return 0;
}

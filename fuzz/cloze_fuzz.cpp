// Fuzzes the reading of cloze questions: any file is either rejected with a heed::Error or gives
// questions whose answers are words of their passages, and batches of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/data/cloze.h"
#include "heed/text/words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile file(bytes);
  TokenCounter counter;
  for (const char* word : {"a", "b", "XXXXX"}) counter.add(word);
  const Words words(counter.vocabulary());
  for (const OnBad on_bad : {OnBad::stop, OnBad::skip}) {
    ClozeCorpus corpus;
    BadLines bad;
    try {
      read_cloze(file.path(), on_bad, bad, [&](const ClozeQuestion& question) {
        fuzz::require(std::ranges::find(question.question, kBlank) != question.question.end());
        corpus.add(question, words);
        fuzz::require(corpus.answers.back() >= 0);
      });
    } catch (const Error&) {
    }
    if (corpus.size() == 0) continue;
    std::vector<std::int32_t> all(static_cast<std::size_t>(corpus.size()));
    std::iota(all.begin(), all.end(), 0);
    const ClozeBatch batch = make_batch(corpus, all);
    for (const std::int64_t id : batch.words.values<std::int64_t>()) {
      fuzz::require(id >= 0 && id < words.size());
    }
  }
  return 0;
}

// Fuzzes the reading of stories: any file is either rejected with a heed::Error or gives questions
// with answers, and batches of them.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "fuzz/memory_file.h"
#include "heed/base/error.h"
#include "heed/data/stories.h"
#include "heed/text/words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile file(bytes);
  TokenCounter counter;
  for (const char* word : {"a", "mary", "bathroom"}) counter.add(word);
  const Words words(counter.vocabulary());
  for (const OnBad on_bad : {OnBad::stop, OnBad::skip}) {
    StoryCorpus corpus;
    BadLines bad;
    try {
      read_stories(file.path(), on_bad, bad, [&](const StoryQuestion& question) {
        fuzz::require(!question.question.empty() && !question.answer.empty());
        corpus.add(question, words);
        fuzz::require(corpus.memories.back().end == corpus.sentences.size());
      });
    } catch (const Error&) {
    }
    if (corpus.size() == 0) continue;
    std::vector<std::int32_t> all(static_cast<std::size_t>(corpus.size()));
    std::iota(all.begin(), all.end(), 0);
    const StoryBatch batch = make_batch(corpus, all, {.max_sentences = 4, .noise = 0.5});
    for (const std::int64_t age : batch.ages.values<std::int64_t>()) {
      fuzz::require(age >= 0 && age <= 4);
    }
    for (const std::int64_t id : batch.sentences.values<std::int64_t>()) {
      fuzz::require(id >= 0 && id < words.size());
    }
  }
  return 0;
}

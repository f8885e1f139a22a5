#include "heed/serve/embed_queue.h"

#include <gtest/gtest.h>

#include <future>

#include "heed/generation/request.h"
#include "tests/generation/tiny_text_model.h"

namespace heed::serve {
namespace {

struct Outcome {
  EmbedQueue::Vectors vectors;
  std::exception_ptr error;
};

// The vectors of texts, once.
std::future<Outcome> submit(EmbedQueue& queue, const TextEmbedder& embedder,
                            const std::vector<std::string>& texts, std::int64_t* number = nullptr) {
  std::vector<ReadText> read;
  for (const std::string& text : texts) read.push_back(read_text(embedder, text));
  auto promise = std::make_shared<std::promise<Outcome>>();
  const std::int64_t given = queue.submit(
      std::move(read), [promise](EmbedQueue::Vectors vectors, std::exception_ptr error) {
        promise->set_value({std::move(vectors), std::move(error)});
      });
  if (number != nullptr) *number = given;
  return promise->get_future();
}

TEST(EmbedQueue, GivesEachCallerItsVectors) {
  const TextEmbedder embedder = test::tiny_embedder();
  EmbedQueue queue(embedder);
  std::vector<std::future<Outcome>> waiting;
  std::vector<std::vector<std::string>> texts;
  for (int i = 0; i < 40; ++i) {
    texts.push_back({std::string(static_cast<std::size_t>(1 + i % 7), 'a'), "h", "cab"});
    waiting.push_back(submit(queue, embedder, texts.back()));
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const Outcome found = waiting[i].get();
    ASSERT_FALSE(found.error);
    const std::vector<float> expected = embed_texts(embedder, texts[i]).to_vector<float>();
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t j = 0; j < 16; ++j) {
        EXPECT_NEAR(found.vectors[k][j], expected[16 * k + j], 1e-5);
      }
    }
  }
}

TEST(EmbedQueue, EndsWhatIsCancelled) {
  const TextEmbedder embedder = test::tiny_embedder();
  std::vector<std::future<Outcome>> waiting;
  {
    EmbedQueue queue(embedder);
    for (int i = 0; i < 30; ++i) {
      std::int64_t number = 0;
      waiting.push_back(submit(queue, embedder, std::vector<std::string>(20, "abc"), &number));
      if (i % 2 == 0) queue.cancel(number);
    }
  }
  for (auto& one : waiting) {
    const Outcome found = one.get();  // each ends once, with vectors or with an error
    EXPECT_EQ(found.vectors.empty(), found.error != nullptr);
  }
}

}  // namespace
}  // namespace heed::serve

// Attention over attention answers cloze questions (Cui et al. 2017) that the sum of attention over
// places (Kadlec et al. 2016) does not when every word of the question attends and counts alike (as
// in the consensus reader's average, Cui et al. 2016). A document is pairs of a context word and an
// entity; a question is one of those context words among seven that say nothing, and asks for its
// entity. All readers have the same embeddings and the same training. What is not shown: that one
// must know which words count while reading; a question summed to one vector, whose empty words
// become short, does nearly as well, and is printed beside them.
#include <gtest/gtest.h>

#include "heed/attention/variants/attention_over_attention.h"
#include "heed/nn/embedding.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/matmul.h"
#include "heed/ops/order.h"
#include "heed/ops/softmax.h"
#include "tests/learning/learn.h"

namespace heed::test::aoa_cloze_test {
namespace {

// Words of a question: context words first, then those that say nothing.
constexpr std::int64_t kEntities = 6, kContexts = 40, kWords = kContexts + 30;
constexpr std::int64_t kPairs = 24, kQuestion = 8, kFeatures = 32, kBatch = 32;

struct Cloze {
  Tensor contexts, entities;  // i64 [B, kPairs]
  Tensor question;            // i64 [B, kQuestion]
  Tensor answer;              // i64 [B, 1]
};

Cloze make_cloze(std::int64_t batch, Generator& generator) {
  Cloze cloze;
  const Tensor shuffled = argsort(uniform({batch, kContexts}, 0.0, 1.0, generator), 1);
  cloze.contexts = slice(shuffled, 1, 0, kPairs);  // no context word twice
  cloze.entities = random_ids({batch, kPairs}, 0, kEntities, generator);
  const Tensor asked = random_ids({batch, 1}, 0, kPairs, generator);           // [B, 1]
  const Tensor where_asked = random_ids({batch, 1}, 0, kQuestion, generator);  // [B, 1]
  const Tensor empty_words = random_ids({batch, kQuestion}, kContexts, kWords, generator);
  cloze.question =
      where(equal(arange(kQuestion), where_asked), gather(cloze.contexts, 1, asked), empty_words);
  cloze.answer = gather(cloze.entities, 1, asked);
  return cloze;
}

// How the words of a question are brought together.
enum class Reading {
  attention_over_attention,
  average,     // every word's attention counts alike
  one_vector,  // the sum of the words attends
};

struct Reader : Module {
  Embedding words{{.vocabulary = kWords, .size = kFeatures}};
  Embedding entities{{.vocabulary = kEntities, .size = kFeatures}};
  AttentionOverAttention over{{.embed = kFeatures}};

  void visit(ParameterVisitor& visitor) override {
    visitor("words", words);
    visitor("entities", entities);
  }

  // How much each pair is looked at: question [B, Tq, E], document [B, Tk, E] -> [B, Tk].
  Tensor attend(const Tensor& q, const Tensor& h, Reading reading) const {
    if (reading == Reading::attention_over_attention) return over({.x = q, .memory = h});
    const bool one = reading == Reading::one_vector;
    const Tensor asks = one ? sum(q, {1}, {.keep_axes = true}) : q;  // [B, 1 or Tq, E]
    return mean(softmax(matmul(asks, transpose(h)), 2), {1});        // [B, Tk]
  }

  // The score of each entity: [B, kEntities].
  Tensor operator()(const Cloze& cloze, Reading reading) const {
    const Tensor q = words(cloze.question);                             // [B, Tq, E]
    const Tensor h = words(cloze.contexts) + entities(cloze.entities);  // [B, Tk, E]
    const Tensor all = expand(arange(kEntities), {cloze.answer.size(0), kEntities});
    return candidate_scores(attend(q, h, reading), cloze.entities, all);
  }
};

double train_reader(Reading reading, std::uint64_t seed) {
  default_generator() = Generator(seed);
  Reader reader;
  Generator data(seed + 100);
  learn(reader, {.updates = 1000, .rate = 1e-2}, [&](int) {
    const Cloze cloze = make_cloze(kBatch, data);
    return -mean(log(gather(reader(cloze, reading), 1, cloze.answer) + 1e-6));
  });
  const NoGrad off;
  const Cloze cloze = make_cloze(2000, data);
  return share_equal(argmax(reader(cloze, reading), 1, {.keep_axes = true}), cloze.answer);
}

TEST(Learning, AoaCloze) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const double over = train_reader(Reading::attention_over_attention, seed);
    const double average = train_reader(Reading::average, seed);
    const double one = train_reader(Reading::one_vector, seed);
    fmt::print(
        "aoa_cloze: questions right, seed {}: attention over attention {:.3f}, average of "
        "words {:.3f}, one vector {:.3f}\n",
        seed, over, average, one);
    EXPECT_GE(over, 0.95);
    EXPECT_GE(over, average + 0.3);
  }
}

}  // namespace
}  // namespace heed::test::aoa_cloze_test

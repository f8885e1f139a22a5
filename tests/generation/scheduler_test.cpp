// Requests of all kinds at once: results have the bits of each computed alone, whatever the
// workers and threads; and the limits, the ends and the errors of requests.
#include "heed/generation/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "heed/base/interrupt.h"
#include "heed/base/threads.h"
#include "heed/generation/search.h"
#include "heed/nn/pack_weights.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::scheduler_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

class Threads {
 public:
  explicit Threads(int threads) : before_(num_threads()) { set_num_threads(threads); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

// Searches of every kind.
std::vector<SearchOptions> searches() {
  SearchOptions greedy{.beam_size = 1, .max_length = 20};
  SearchOptions repeating = greedy, short_one = greedy;
  repeating.repetition_penalty = 1.5;
  short_one.min_length = 2;
  short_one.max_length = 5;
  SearchOptions beam{.beam_size = 4, .n_best = 3, .max_length = 15};
  SearchOptions penalised = beam;
  penalised.frequency_penalty = 0.3;
  penalised.no_repeat_ngram = 2;
  SearchOptions sampling{.method = SearchMethod::sample, .max_length = 17, .seed = 5};
  SearchOptions samples = sampling;
  samples.n_best = 3;
  samples.top_p = 0.7;
  return {greedy, beam, sampling, repeating, penalised, samples, short_one};
}

void expect_same(const NBest& actual, const NBest& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t n = 0; n < actual.size(); ++n) {
    EXPECT_EQ(actual[n].tokens, expected[n].tokens);
    EXPECT_EQ(actual[n].score, expected[n].score);
    EXPECT_EQ(actual[n].token_log_probabilities, expected[n].token_log_probabilities);
    EXPECT_EQ(actual[n].finish, expected[n].finish);
    ASSERT_EQ(actual[n].weights.has_value(), expected[n].weights.has_value());
    if (!actual[n].weights) continue;
    const LayerWeights &a = actual[n].weights->decoder.at(0), &b = expected[n].weights->decoder[0];
    EXPECT_TRUE(test::same_bits(a.cross, b.cross));
    EXPECT_EQ(a.self.defined(), b.self.defined());
    if (a.self.defined()) {
      EXPECT_TRUE(test::same_bits(a.self, b.self));
    }
  }
}

// ---- translations -------------------------------------------------------------------------------

Translator translator_in(PackedForm form, const std::string& positions = "sinusoidal") {
  const auto source = test::letters(), target = test::letters();
  TransformerConfig config = test::tiny_config(source, target);
  config.block.positions = positions;
  config.decoder_layers = 2;
  Translator translator = test::tiny_translator(config, source, target);
  pack_weights(translator.model(), form);
  return translator;
}

// Sentences of 1 to 23 letters, with searches of all kinds; some have a prefix.
std::vector<Request> requests(const Translator& translator, std::size_t count) {
  const std::vector<SearchOptions> kinds = searches();
  const std::string text = "abcdefghhgfedcbaabbccddeeffgghhaceg";
  std::vector<Request> all;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line;
    for (std::size_t j = 0; j < 1 + i * 7 % 23; ++j) line += text[(i * 5 + j) % text.size()];
    Translator::Source source{.tokens = translator.read(line), .stream = i};
    if (i % 5 == 3) source.prefix = translator.target()->encode("ab");
    all.push_back(translator.request_of(std::move(source),
                                        translator.plan({.search = kinds[i % kinds.size()]})));
  }
  return all;
}

TEST(Scheduler, ResultsHaveTheBitsOfEachAlone) {
  for (const PackedForm form : {PackedForm::f32, PackedForm::bf16, PackedForm::int8}) {
    for (const ObservedWeights observed :
         {ObservedWeights::none, ObservedWeights::cross, ObservedWeights::all}) {
      if (observed != ObservedWeights::none && form != PackedForm::f32) continue;
      SCOPED_TRACE(fmt::format("{}, weights {}", name_of(form), static_cast<int>(observed)));
      const Translator translator = translator_in(form);
      const auto model = translator.sequences({.observed = observed});
      const std::vector<Request> all = requests(translator, 70);
      std::vector<NBest> alone;
      {
        const Threads one(1);
        for (const Request& request : all) {
          alone.push_back(run_requests(*model, {}, {request}).at(0));
        }
      }
      const Threads three(3);
      for (const SchedulerOptions& options :
           {SchedulerOptions{}, SchedulerOptions{.workers = 1, .batch_sentences = 7},
            SchedulerOptions{.workers = 2, .batch_sentences = 5, .batch_tokens = 30},
            SchedulerOptions{.workers = 3}}) {
        const std::vector<NBest> found = run_requests(*model, options, all);
        for (std::size_t i = 0; i < all.size(); ++i) {
          SCOPED_TRACE(i);
          expect_same(found[i], alone[i]);
        }
      }
    }
  }
}

// Attention without pages: requests that begin together go on to the last of them.
TEST(Scheduler, WhatCannotJoinIsComputedInGroups) {
  const Translator shaw = translator_in(PackedForm::f32, "shaw");
  const Translator plain = translator_in(PackedForm::f32);
  const auto of_shaw = shaw.sequences({});
  const auto replayed = plain.sequences({.stepping = Stepping::replayed});
  for (const SequenceModel* const model : {of_shaw.get(), replayed.get()}) {
    const std::vector<Request> all = requests(plain, 20);
    const std::vector<NBest> found = run_requests(*model, {.batch_sentences = 6}, all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const NBest alone = run_requests(*model, {}, {all[i]}).at(0);
      ASSERT_EQ(found[i].size(), alone.size());
      EXPECT_EQ(found[i].at(0).tokens, alone.at(0).tokens);
    }
  }
}

TEST(Scheduler, BatchesStayFull) {
  const Threads one(1);
  const Translator translator = translator_in(PackedForm::f32);
  const auto model = translator.sequences({});
  Scheduler scheduler(*model, {.batch_sentences = 8});
  const auto plan = translator.plan({.search = {.beam_size = 1}});
  for (std::size_t i = 0; i < 100; ++i) {  // results of 1 to 20 tokens
    auto own = std::make_shared<SearchPlan>(*plan);
    own->options.max_length = static_cast<std::int64_t>(1 + i % 20);
    own->options.min_length = own->options.max_length;
    own->rules.push_back(require_length(own->options.min_length, own->ends));
    scheduler.submit(translator.request_of({.tokens = translator.read("abc")}, own));
  }
  scheduler.run();
  const StepStatistics statistics = scheduler.statistics();
  EXPECT_EQ(statistics.sentences, 100 * 23 / 2) << "tokens and ends";
  EXPECT_GT(statistics.sentences, statistics.steps * 7) << "of 8";
}

// ---- texts --------------------------------------------------------------------------------------

Request text_request(const TextGenerator& generator, std::int64_t length, std::uint64_t stream,
                     const SearchOptions& options) {
  Tokens prompt;
  for (std::int64_t i = 0; i < length; ++i) {
    prompt.push_back(
        static_cast<std::int32_t>(4 + (i * i + static_cast<std::int64_t>(stream)) % 8));
  }
  const std::int32_t last = prompt.back();
  prompt.pop_back();
  return {.prompt = std::move(prompt),
          .start = Start{.token = last, .source_length = std::nullopt, .stream = stream},
          .plan = std::make_shared<SearchPlan>(make_plan(options, generator.tokenizer->special()))};
}

// Prompts of one token up to several parts.
TEST(Scheduler, TextsHaveTheBitsOfEachAlone) {
  for (const char* const positions : {"rope", "learned max_length=2000"}) {
    const TextGenerator generator = test::tiny_generator(positions);
    pack_weights(*generator.model, PackedForm::f32);
    const auto model = sequences_of(*generator.model);
    std::vector<Request> all;
    const std::vector<SearchOptions> kinds = searches();
    for (const std::int64_t length : {1, 2, 17, 63, 65, 513, 1030, 3, 600, 5, 1, 40}) {
      all.push_back(text_request(generator, length, all.size(), kinds[all.size() % kinds.size()]));
    }
    std::vector<NBest> alone;
    for (const Request& request : all) {
      alone.push_back(run_requests(*model, {}, {request}).at(0));
    }
    const Threads two(2);
    for (const SchedulerOptions& options :
         {SchedulerOptions{}, SchedulerOptions{.workers = 2, .batch_sentences = 3}}) {
      const std::vector<NBest> found = run_requests(*model, options, all);
      for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE(i);
        expect_same(found[i], alone[i]);
      }
    }
  }
}

TEST(Scheduler, TokensAreToldAsTheyAreChosen) {
  const TextGenerator generator = test::tiny_generator("rope");
  const auto model = sequences_of(*generator.model);
  Scheduler scheduler(*model);
  std::vector<Tokens> told(3);
  std::vector<NBest> found(3);
  std::vector<std::size_t> early;  // tokens that were told while others ran
  for (std::size_t i = 0; i < 3; ++i) {
    const SearchOptions options = searches()[i == 1 ? 2 : 0];
    Request request = text_request(generator, 4, i, options);
    request.on_token = [&, i](std::int32_t token) { told[i].push_back(token); };
    request.on_done = [&, i](NBest result, const std::exception_ptr&) {
      found[i] = std::move(result);
      early.push_back(told[2].size());
    };
    scheduler.submit(std::move(request));
  }
  scheduler.run();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(told[i], found[i].at(0).tokens);
  EXPECT_GT(early.front(), 0u);

  Request beam = text_request(generator, 4, 0, searches()[1]);
  beam.on_token = [](std::int32_t) {};
  EXPECT_THAT(error_message([&] { scheduler.submit(beam); }), HasSubstr("never revised"));
}

TEST(Scheduler, AnErrorOfAListenerEndsItsRequestAlone) {
  const TextGenerator generator = test::tiny_generator("rope");
  const auto model = sequences_of(*generator.model);
  Scheduler scheduler(*model);
  std::vector<std::string> ends(2);
  for (std::size_t i = 0; i < 2; ++i) {
    Request request = text_request(generator, 3, i, {.beam_size = 1, .max_length = 9});
    if (i == 0) {
      request.on_token = [count = 0](std::int32_t) mutable {
        if (++count == 2) throw Error("enough");
      };
    }
    request.on_done = [&, i](const NBest&, const std::exception_ptr& error) {
      ends[i] = error ? error_message([&] { std::rethrow_exception(error); }) : "fine";
    };
    scheduler.submit(std::move(request));
  }
  scheduler.run();
  EXPECT_THAT(ends, ElementsAre("enough", "fine"));
}

// ---- limits -------------------------------------------------------------------------------------

TEST(Scheduler, RefusesWhatTheModelCannotRead) {
  const TextGenerator generator = test::tiny_generator();  // 16 positions
  const auto model = sequences_of(*generator.model);
  Scheduler scheduler(*model);
  EXPECT_NO_THROW(scheduler.submit(text_request(generator, 16, 0, searches()[0])));
  EXPECT_EQ(error_message([&] { scheduler.submit(text_request(generator, 17, 0, searches()[0])); }),
            "[scheduler] a prompt of 17 tokens: the model has 16 positions; shorten it");
  const Translator translator = translator_in(PackedForm::f32, "learned max_length=5");
  const auto translating = translator.sequences({});
  const Request request = requests(translator_in(PackedForm::f32), 3).at(2);
  EXPECT_EQ(error_message([&] { Scheduler(*translating).submit(request); }),
            "[scheduler] a source of 16 tokens: the model reads at most 5");
}

TEST(Scheduler, RefusesWhatNeedsTooMuchMemory) {
  const TextGenerator generator = test::tiny_generator("rope");
  const auto model = sequences_of(*generator.model);
  Scheduler scheduler(*model, {.cache_megabytes = 1});
  EXPECT_NO_THROW(
      scheduler.submit(text_request(generator, 2, 0, {.beam_size = 1, .max_length = 1500})));
  EXPECT_THAT(
      error_message([&] {
        scheduler.submit(text_request(generator, 2, 0, {.beam_size = 100, .max_length = 1500}));
      }),
      HasSubstr("MB for its keys and values, 1 MB are allowed"));
}

// Two thirds of the memory each: one after another, and both end.
TEST(Scheduler, RequestsWaitForMemory) {
  const Threads two(2);
  const TextGenerator generator = test::tiny_generator("rope");
  const auto model = sequences_of(*generator.model);
  const SearchOptions options{.method = SearchMethod::sample, .max_length = 1800};
  std::vector<Request> all;
  for (std::uint64_t i = 0; i < 2; ++i) {
    all.push_back(text_request(generator, 2, i, options));
    auto plan = std::make_shared<SearchPlan>(*all.back().plan);
    plan->stop = [](std::span<const std::int32_t> tokens) { return tokens.size() == 12; };
    all.back().plan = plan;
  }
  const auto found = run_requests(*model, {.workers = 2, .cache_megabytes = 1}, all);
  for (const NBest& result : found) EXPECT_EQ(result.size(), 1u);
}

TEST(Scheduler, RefusesMoreThanItsQueue) {
  const TextGenerator generator = test::tiny_generator("rope");
  const auto model = sequences_of(*generator.model);
  Scheduler scheduler(*model, {.queue = 2});
  scheduler.submit(text_request(generator, 2, 0, searches()[0]));
  scheduler.submit(text_request(generator, 2, 1, searches()[0]));
  EXPECT_THROW(scheduler.submit(text_request(generator, 2, 2, searches()[0])), QueueFull);
  scheduler.run();
  EXPECT_NO_THROW(scheduler.submit(text_request(generator, 2, 2, searches()[0])));
}

// ---- ends ---------------------------------------------------------------------------------------

TEST(Scheduler, ARequestCanBeCancelledAtAnyStep) {
  const TextGenerator generator = test::tiny_generator("rope");
  const auto model = sequences_of(*generator.model);
  for (const int at : {0, 1, 4}) {
    Scheduler scheduler(*model);
    std::vector<int> cancelled(3, -1);
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < 3; ++i) {
      Request request = text_request(generator, 600, i, {.beam_size = 2, .max_length = 9});
      request.on_done = [&, i](const NBest& found, const std::exception_ptr& error) {
        cancelled[i] = error ? 1 : 0;
        EXPECT_EQ(found.empty(), error != nullptr);
      };
      numbers.push_back(scheduler.submit(std::move(request)));
    }
    int steps = 0;
    scheduler.run([&] {
      if (steps++ == at) scheduler.cancel(numbers[1]);
    });
    EXPECT_THAT(cancelled, ElementsAre(0, 1, 0)) << "at step " << at;
    EXPECT_EQ(scheduler.unfinished(), 0);
  }
}

TEST(Scheduler, AnInterruptEndsARunWithinAStep) {
  for (const int threads : {1, 2}) {
    const Threads some(threads);
    const Translator translator = translator_in(PackedForm::f32);
    const auto model = translator.sequences({});
    std::atomic<int> ended = 0, steps = 0;
    {
      Scheduler scheduler(*model);
      for (Request& request : requests(translator, 60)) {
        request.on_done = [&](const NBest&, const std::exception_ptr& error) {
          if (error) ++ended;
        };
        scheduler.submit(std::move(request));
      }
      EXPECT_THROW(scheduler.run([&] {
        if (++steps >= 3) throw Interrupted();
      }),
                   Interrupted);
      EXPECT_LE(steps, 2 + threads);
    }
    EXPECT_GT(ended, 0) << "the others are cancelled with the scheduler";
  }
}

TEST(Scheduler, ARunMayPause) {
  const Translator translator = translator_in(PackedForm::f32);
  const auto model = translator.sequences({});
  Scheduler scheduler(*model, {.batch_sentences = 4});
  std::vector<Request> all = requests(translator, 20);
  std::vector<NBest> found(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    Request request = all[i];
    request.on_done = [&, i](NBest result, const std::exception_ptr&) { found[i] = result; };
    scheduler.submit(std::move(request));
    if (i % 3 == 2) {
      int checks = 0;
      scheduler.run({}, [&] { return ++checks > 4; });
    }
  }
  scheduler.run();
  for (std::size_t i = 0; i < all.size(); ++i) {
    expect_same(found[i], run_requests(*model, {}, {all[i]}).at(0));
  }
}

TEST(Scheduler, ServesFromAThreadOfItsOwn) {
  const Translator translator = translator_in(PackedForm::f32);
  const auto model = translator.sequences({});
  const std::vector<Request> all = requests(translator, 24);
  std::vector<std::future<NBest>> found;
  Scheduler scheduler(*model, {.batch_sentences = 4});
  scheduler.start();
  std::mutex mutex;
  std::vector<std::thread> clients;
  for (std::size_t client = 0; client < 3; ++client) {
    clients.emplace_back([&, client] {
      for (std::size_t i = client; i < all.size(); i += 3) {
        auto promise = std::make_shared<std::promise<NBest>>();
        Request request = all[i];
        request.on_done = [promise](NBest result, const std::exception_ptr& error) {
          error ? promise->set_exception(error) : promise->set_value(std::move(result));
        };
        scheduler.submit(std::move(request));
        const NBest result = promise->get_future().get();
        const std::lock_guard lock(mutex);
        expect_same(result, run_requests(*model, {}, {all[i]}).at(0));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (Request request : all) scheduler.submit(std::move(request));  // ends with the scheduler
}

TEST(Scheduler, UrgentRequestsComeFirst) {
  const Threads one(1);
  const TextGenerator generator = test::tiny_generator("rope");
  const auto model = sequences_of(*generator.model);
  Scheduler scheduler(*model, {.batch_sentences = 1});
  std::vector<int> order;
  for (const int priority : {0, 1, 0, 3}) {
    Request request = text_request(generator, 2, 0, {.beam_size = 1, .max_length = 2});
    request.priority = priority;
    request.on_done = [&, priority](const NBest&, const std::exception_ptr&) {
      order.push_back(priority);
    };
    scheduler.submit(std::move(request));
  }
  scheduler.run();
  EXPECT_THAT(order, ElementsAre(3, 1, 0, 0));
}

}  // namespace
}  // namespace heed::scheduler_test

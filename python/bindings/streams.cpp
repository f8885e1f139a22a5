#include "python/bindings/streams.h"

#include <chrono>
#include <utility>

#include "heed/base/error.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/options.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

// Inputs are read so far ahead of results, so that batches are full.
constexpr std::int64_t kAhead = 256;

constexpr std::chrono::milliseconds kBetweenChecks{50};

// The results of the next request, without the interpreter's lock.
NBest wait_for(RequestStream& stream) {
  const Unlocked released;
  return stream.next([check = InterruptCheck()]() mutable { check(); });
}

}  // namespace

// ---- inputs -------------------------------------------------------------------------------------

StreamInputs::StreamInputs(const char* what, nb::handle texts)
    : what_(what), iterator_(iterator_of(what, texts)) {}

std::optional<std::string> StreamInputs::next() {
  if (has_ended_) return {};
  const nb::object text = nb::steal(PyIter_Next(iterator_.ptr()));
  if (!text.is_valid()) {
    has_ended_ = true;
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return {};
  }
  return text_of(fmt::format("{}[{}]", what_, count_++), text);
}

// ---- translations -------------------------------------------------------------------------------

TranslationStream::TranslationStream(Translator translator, TranslateOptions options,
                                     nb::handle sentences)
    : translator_(std::move(translator)),
      options_(std::move(options)),
      plan_(translator_.plan(options_)),
      model_(translator_.sequences(options_)),
      prefix_(options_.prefix.empty() ? std::vector<std::int32_t>()
                                      : translator_.target()->encode(options_.prefix)),
      inputs_("sentences", sentences),
      stream_(*model_, options_.scheduling) {}

std::optional<std::vector<PyTranslation>> TranslationStream::next() {
  while (stream_.pending() < kAhead) {
    const std::optional<std::string> sentence = inputs_.next();
    if (!sentence) break;
    Translator::Source source{
        .tokens = translator_.read(*sentence), .stream = number_, .prefix = prefix_};
    source.copied = translator_.copied(*sentence, source.tokens);
    if (translator_.is_empty(source.tokens)) {
      stream_.submit_known({Hypothesis()});
    } else {
      stream_.submit(translator_.request_of(source, plan_));
    }
    sources_.push_back(std::move(source.tokens));
    ++number_;
  }
  if (stream_.pending() == 0) return {};
  const std::vector<std::int32_t> source = std::move(sources_.front());
  sources_.pop_front();
  std::vector<PyTranslation> results;
  for (auto& [text, hypothesis] :
       translator_.translations_of(source, wait_for(stream_), options_)) {
    results.push_back({written(*translator_.target(), std::move(text), std::move(hypothesis))});
  }
  return results;
}

// ---- continuations ------------------------------------------------------------------------------

ContinuationStream::ContinuationStream(const TextGenerator& generator, GenerateOptions options,
                                       const SchedulerOptions& scheduling, nb::handle prompts)
    : generator_(generator),
      options_(std::move(options)),
      model_(sequences_of(*generator.model, options_.search.cache)),
      inputs_("prompts", prompts),
      stream_(*model_, scheduling) {}

std::optional<std::vector<Continuation>> ContinuationStream::next() {
  while (stream_.pending() < kAhead) {
    const std::optional<std::string> text = inputs_.next();
    if (!text) break;
    Prompt prompt = read_prompt(generator_, *text);
    if (fits_positions(generator_, prompt, options_)) {
      stream_.submit(generation_request(generator_, prompt, options_, number_));
    } else {
      NBest found;  // longer than the model's positions: computed alone
      const Unlocked released;
      for (GeneratedText& one : generate_text(
               generator_, prompt, options_,
               {.stream = number_, .on_step = [check = InterruptCheck()]() mutable { check(); }})) {
        found.push_back(std::move(one.hypothesis));
      }
      stream_.submit_known(std::move(found));
    }
    prompts_.push_back(std::move(prompt));
    ++number_;
  }
  if (stream_.pending() == 0) return {};
  const Prompt prompt = std::move(prompts_.front());
  prompts_.pop_front();
  std::vector<Continuation> results;
  for (auto& [text, hypothesis] : texts_of(generator_, prompt, options_, wait_for(stream_))) {
    results.push_back({written(*generator_.tokenizer, std::move(text), std::move(hypothesis))});
  }
  return results;
}

// ---- pieces of a text ---------------------------------------------------------------------------

TextStream::TextStream(const TextGenerator& generator, const Prompt& prompt,
                       const GenerateOptions& options)
    : model_(sequences_of(*generator.model, options.search.cache)), scheduler_(*model_) {
  HEED_CHECK(
      is_single(options.search),
      "[stream] several texts are searched at once: use a beam_size of 1 and an n_best of 1");
  HEED_CHECK(fits_positions(generator, prompt, options),
             "[stream] a prompt of {} tokens and a max_length of {}: the model has {} positions",
             prompt.tokens.size(), options.search.max_length, generator.model->max_length());
  const auto teller =
      std::make_shared<TextTeller>(generator, prompt, options, [this](const std::string& piece) {
        const std::lock_guard lock(mutex_);
        pieces_.push_back(piece);
        changed_.notify_all();
      });
  Request request = generation_request(generator, prompt, options, 0);
  request.on_token = [teller](std::int32_t token) { teller->add(token); };
  request.on_done = [=, this, &generator](const NBest& found, std::exception_ptr error) {
    if (!found.empty()) teller->finish(texts_of(generator, prompt, options, found)[0].text);
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    error_ = std::move(error);
    changed_.notify_all();
  };
  scheduler_.submit(std::move(request));
  scheduler_.start();
}

std::optional<std::string> TextStream::next() {
  const Unlocked released;
  InterruptCheck check;
  std::unique_lock lock(mutex_);
  while (pieces_.empty() && !has_ended_) {
    changed_.wait_for(lock, kBetweenChecks);
    lock.unlock();
    check();
    lock.lock();
  }
  if (pieces_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return {};
  }
  std::string piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

// ---- iterators ----------------------------------------------------------------------------------

namespace {

nb::object in_python(std::string piece) { return to_str(piece); }
template <typename Results>
nb::object in_python(Results results) {
  return nb::cast(std::move(results));
}

// Both protocols of iterators. The asynchronous one waits on a thread of the event loop's.
template <typename Stream>
void bind_stream(nb::module_& m, const char* name, const char* help) {
  const auto itself = [](nb::object self) { return self; };
  nb::class_<Stream>(m, name, help)
      .def("__iter__", itself)
      .def("__aiter__", itself)
      .def("__next__",
           [](Stream& self) {
             auto result = self.next();
             if (!result) throw nb::stop_iteration();
             return in_python(*std::move(result));
           })
      .def("_take",
           [](Stream& self) {
             auto result = self.next();
             if (!result) {
               PyErr_SetNone(PyExc_StopAsyncIteration);
               throw nb::python_error();
             }
             return in_python(*std::move(result));
           })
      .def("__anext__", [](const nb::object& self) {
        const nb::object loop = nb::module_::import_("asyncio").attr("get_running_loop")();
        return loop.attr("run_in_executor")(nb::none(), self.attr("_take"));
      });
}

}  // namespace

void bind_streams(nb::module_& m) {
  bind_stream<TranslationStream>(
      m, "TranslationStream",
      "The translations of sentences, in their order, each as soon as it is there, for `for` and "
      "`async for`. Sentences are read up to 256 ahead.");
  bind_stream<ContinuationStream>(
      m, "ContinuationStream",
      "The continuations of prompts, in their order, each as soon as it is there, for `for` and "
      "`async for`. Prompts are read up to 256 ahead.");
  bind_stream<TextStream>(m, "TextStream",
                          "The pieces of a text as it is generated, for `for` and `async for`.");
}

}  // namespace heed::python

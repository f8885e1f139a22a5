// heed.TranslationStream, heed.ContinuationStream and heed.TextStream: iterators over results that
// are computed in the background, for `for` and for `async for`.
#pragma once

#include <nanobind/stl/unique_ptr.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "heed/generation/generation_request.h"
#include "heed/generation/request_stream.h"
#include "heed/generation/translator.h"
#include "python/bindings/model_results.h"

namespace heed::python {

/// Inputs of a stream, read from a Python iterator as far ahead as batches need.
class StreamInputs {
 public:
  StreamInputs(const char* what, nb::handle texts);
  /// The next text; none at the end.
  std::optional<std::string> next();

 private:
  const char* what_;
  nb::object iterator_;
  std::size_t count_ = 0;
  bool has_ended_ = false;
};

class TranslationStream {
 public:
  TranslationStream(Translator translator, TranslateOptions options, nb::handle sentences);
  /// The translations of the next sentence; none at the end.
  std::optional<std::vector<PyTranslation>> next();

 private:
  const Translator translator_;
  const TranslateOptions options_;
  const std::shared_ptr<const SearchPlan> plan_;
  const std::unique_ptr<SequenceModel> model_;
  const std::vector<std::int32_t> prefix_;
  StreamInputs inputs_;
  std::uint64_t number_ = 0;
  std::deque<std::vector<std::int32_t>> sources_;  // of the pending requests
  RequestStream stream_;
};

class ContinuationStream {
 public:
  /// The generator must outlive it.
  ContinuationStream(const TextGenerator& generator, GenerateOptions options,
                     const SchedulerOptions& scheduling, nb::handle prompts);
  /// The continuations of the next prompt; none at the end.
  std::optional<std::vector<Continuation>> next();

 private:
  const TextGenerator& generator_;
  const GenerateOptions options_;
  const std::unique_ptr<SequenceModel> model_;
  StreamInputs inputs_;
  std::uint64_t number_ = 0;
  std::deque<Prompt> prompts_;  // of the pending requests
  RequestStream stream_;
};

/// One text, piece by piece.
class TextStream {
 public:
  /// The generator must outlive it.
  TextStream(const TextGenerator& generator, const Prompt& prompt, const GenerateOptions& options);
  /// The next piece; none at the end.
  std::optional<std::string> next();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> pieces_;
  bool has_ended_ = false;
  std::exception_ptr error_;
  const std::unique_ptr<SequenceModel> model_;
  Scheduler scheduler_;  // last: it ends first
};

void bind_streams(nb::module_& m);

}  // namespace heed::python

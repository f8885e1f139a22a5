// A language model as a filter: prompts are added one by one, and their continuations come out in
// the same order. The continuation of a prompt does not depend on the other prompts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "heed/generation/generate.h"
#include "heed/generation/request_filter.h"

namespace heed {

/// A prompt and its continuations.
struct Generated {
  Prompt prompt = {};
  std::uint64_t stream = 0;               ///< Of random numbers.
  std::vector<GeneratedText> found = {};  ///< The n best.
};

class GenerationFilter {
 public:
  using Emit = std::function<void(const Generated&)>;

  /// `ordering` has the window and the sizes of batches. The generator must outlive the filter.
  GenerationFilter(const TextGenerator& generator, const GenerateOptions& options,
                   const SchedulerOptions& scheduling, const OrderingOptions& ordering, Emit emit,
                   OnStep on_step = {});

  /// Adds the next prompt, which draws from a stream of random numbers: give each its own.
  /// Exceptions of `emit` pass through; the filter must not be used after one.
  void add(Prompt prompt, std::uint64_t stream);
  /// Continues all waiting prompts.
  void flush() { filter_.flush(); }

 private:
  void generated(std::int64_t number, const NBest& found);

  const TextGenerator& generator_;
  const GenerateOptions options_;
  const Emit emit_;
  const OnStep on_step_;
  const std::unique_ptr<SequenceModel> model_;
  std::mutex mutex_;
  std::map<std::int64_t, Generated> waiting_;  // by number, without results
  RequestFilter filter_;
};

/// The n best continuations of each prompt, in the order given.
std::vector<std::vector<GeneratedText>> generate_texts(const TextGenerator& generator,
                                                       std::span<const Prompt> prompts,
                                                       const GenerateOptions& options,
                                                       const SchedulerOptions& scheduling = {},
                                                       const OnStep& on_step = {});

}  // namespace heed

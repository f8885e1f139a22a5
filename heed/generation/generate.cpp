#include "heed/generation/generate.h"

#include <algorithm>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/cached_steps.h"
#include "heed/generation/plan.h"
#include "heed/generation/search.h"
#include "heed/generation/watched_steps.h"

namespace heed {
namespace {

using Tokens = std::vector<std::int32_t>;

// Steps with a cache until the context is full; then anew from the last half of each row.
class EndlessSteps : public StepModel {
 public:
  EndlessSteps(const LanguageModel& model, std::int64_t rows, std::span<const std::int32_t> prompt,
               std::int64_t context)
      : model_(model),
        context_(context),
        read_(static_cast<std::size_t>(rows), Tokens(prompt.begin(), prompt.end() - 1)) {
    begin();
  }

  std::int64_t rows() const override { return std::ssize(read_); }
  std::int64_t vocabulary() const override { return steps_->vocabulary(); }

  Tensor step(std::span<const std::int32_t> last) override {
    if (filled_ == context_) begin();
    ++filled_;
    for (std::size_t row = 0; row < read_.size(); ++row) read_[row].push_back(last[row]);
    return steps_->step(last);
  }

  void reorder(std::span<const std::int64_t> from) override {
    std::vector<Tokens> chosen;
    for (const std::int64_t row : from) chosen.push_back(read_[static_cast<std::size_t>(row)]);
    read_ = std::move(chosen);
    steps_->reorder(from);
  }

 private:
  // There is room for one more token at least, since half of the context is left free.
  void begin() {
    LanguageModel::Decoding decoding = model_.start(rows());
    Tokens kept;
    for (Tokens& row : read_) {
      const auto most = static_cast<std::size_t>(context_ / 2);
      if (std::ssize(row) >= context_) {
        row.erase(row.begin(), row.end() - static_cast<std::ptrdiff_t>(most));
      }
      kept.insert(kept.end(), row.begin(), row.end());
    }
    if (!kept.empty()) model_.step(ids_of(kept, rows()), decoding);
    filled_ = read_.empty() ? 0 : std::ssize(read_[0]);
    steps_ = std::make_unique<CachedSteps<LanguageModel>>(model_, rows(), std::move(decoding));
  }

  const LanguageModel& model_;
  std::int64_t context_;
  std::vector<Tokens> read_;  // since the context began, of each row
  std::int64_t filled_ = 0;   // how many that is
  std::unique_ptr<StepModel> steps_;
};

}  // namespace

std::unique_ptr<StepModel> make_endless_steps(const LanguageModel& model, std::int64_t rows,
                                              std::span<const std::int32_t> prompt,
                                              std::int64_t context) {
  HEED_CHECK(!prompt.empty(), "[generate] the prompt has no tokens: give at least one character");
  HEED_CHECK(context >= 2, "[generate] a context of {} tokens: it must be at least 2", context);
  return std::make_unique<EndlessSteps>(model, rows, prompt, context);
}

std::vector<std::int32_t> empty_prompt(const Tokenizer& tokenizer) {
  const SpecialTokens special = tokenizer.special();
  std::vector<std::int32_t> line_end = tokenizer.encode("\n");
  if (line_end.empty() || std::ranges::count(line_end, special.unknown) > 0) return {special.begin};
  return line_end;
}

NBest generate(const TextGenerator& generator, const GenerateRequest& request,
               const SearchOptions& options) {
  const NoGrad no_grad;
  const bool is_single =
      options.method == SearchMethod::sample ? options.n_best == 1 : options.beam_size == 1;
  const auto steps =
      make_endless_steps(generator.model, 1, request.prompt, generator.model.tokens.max_length());
  bool is_begun = false;
  WatchedSteps watched(*steps, [&](std::span<const std::int32_t> last) {
    if (request.on_step) request.on_step();
    const bool is_chosen = std::exchange(is_begun, true);  // the first is the prompt's
    if (is_chosen && is_single && last.size() == 1 && request.on_token) request.on_token(last[0]);
  });
  const Start start{
      .token = request.prompt.back(), .source_length = std::nullopt, .stream = request.stream};
  return std::move(
      search(watched, {&start, 1}, make_plan(options, generator.tokenizer->special()))[0]);
}

}  // namespace heed

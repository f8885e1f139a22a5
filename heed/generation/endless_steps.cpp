#include "heed/generation/endless_steps.h"

#include <algorithm>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/prompt_parts.h"

namespace heed {

EndlessSteps::EndlessSteps(const CausalModel& model, std::int64_t rows,
                           std::span<const std::int32_t> prompt, std::int64_t context,
                           CacheForm cache)
    : model_(model), context_(context), cache_(cache) {
  HEED_CHECK(!prompt.empty(), "[generate] the prompt has no tokens: give at least one character");
  HEED_CHECK(context >= 2, "[generate] a context of {} tokens: it must be at least 2", context);
  read_.assign(static_cast<std::size_t>(rows), {prompt.begin(), prompt.end() - 1});
  begin();
}

bool EndlessSteps::continue_to(std::span<const std::int32_t> prompt) {
  if (rows() != 1 || !is_whole_ || std::ssize(prompt) - 1 < filled_ ||
      std::ssize(prompt) > context_) {
    return false;
  }
  std::vector<std::int32_t>& read = read_[0];
  if (!std::equal(read.begin(), read.end(), prompt.begin())) return false;
  const NoGrad no_grad;
  const auto rest = prompt.subspan(read.size(), prompt.size() - 1 - read.size());
  if (!rest.empty()) decoding_->step(ids_of(rest, 1));
  read.insert(read.end(), rest.begin(), rest.end());
  filled_ = std::ssize(read);
  return true;
}

TokenScores EndlessSteps::step(std::span<const std::int32_t> last) {
  if (filled_ == context_) begin();
  ++filled_;
  for (std::size_t row = 0; row < read_.size(); ++row) read_[row].push_back(last[row]);
  return steps_->step(last);
}

void EndlessSteps::reorder(std::span<const std::int64_t> from) {
  std::vector<std::vector<std::int32_t>> chosen;
  for (const std::int64_t row : from) chosen.push_back(read_[static_cast<std::size_t>(row)]);
  read_ = std::move(chosen);
  steps_->reorder(from);
}

// There is room for one more token at least, since half of the context is left free.
void EndlessSteps::begin() {
  const NoGrad no_grad;
  std::unique_ptr<Decoding> decoding = model_.start(rows(), cache_);
  for (std::vector<std::int32_t>& row : read_) {
    if (std::ssize(row) < context_) continue;
    row.erase(row.begin(), row.end() - static_cast<std::ptrdiff_t>(context_ / 2));
    is_whole_ = false;
  }
  read_in_parts(*decoding, read_);
  filled_ = read_.empty() ? 0 : std::ssize(read_[0]);
  decoding_ = decoding.get();
  steps_ = std::make_unique<DecodingSteps>(model_.output_layer(), rows(), std::move(decoding));
}

}  // namespace heed

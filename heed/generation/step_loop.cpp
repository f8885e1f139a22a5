#include "heed/generation/step_loop.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/prompt_parts.h"
#include "heed/generation/search.h"
#include "heed/generation/step_trace.h"

namespace heed {
namespace {

// Requests join in groups: an encoder is faster with the rows of several sentences than of one. A
// group is a part of this size of a full batch, or all that wait.
constexpr std::int64_t kGroupsOfBatch = 8;

}  // namespace

StepStatistics& StepStatistics::operator+=(const StepStatistics& other) {
  steps += other.steps;
  sentences += other.sentences;
  sequences += other.sequences;
  starts += other.starts;
  return *this;
}

StepLoop::StepLoop(const SequenceModel& model, RequestQueue& queue)
    : model_(model),
      queue_(queue),
      steps_(model.output_layer(), model.observed()),
      searches_(std::in_place, steps_, make_search) {}

StepLoop::~StepLoop() { fail(std::make_exception_ptr(Cancelled())); }

std::int64_t StepLoop::sentences() const {
  std::int64_t count = std::ssize(running_);
  for (const Starting& starting : starting_) count += std::ssize(starting.jobs);
  return count;
}

// ---- joining ------------------------------------------------------------------------------------

void StepLoop::admit(std::int64_t sentences, std::int64_t tokens) {
  const std::int64_t room = sentences - this->sentences();
  const bool joins = running_.empty() || steps_.can_join();
  if (room <= 0 || !joins) return;
  const std::int64_t waiting = queue_.waiting();
  const std::int64_t group = std::max<std::int64_t>(1, sentences / kGroupsOfBatch);
  if (!running_.empty() && room < std::min(group, waiting)) return;
  std::vector<QueuedPtr> jobs = queue_.take(room, tokens);
  if (jobs.empty()) return;
  try {
    if (model_.starts_together()) return start(jobs);
    for (QueuedPtr& job : jobs) start({&job, 1});
  } catch (...) {  // no memory: fail() ends those that have started
    end_all(jobs, std::current_exception());
    throw;
  }
}

// A request is in starting_ or in running_, where fail() finds it, or still in `jobs`.
void StepLoop::start(std::span<QueuedPtr> jobs) {
  Starting empty;
  empty.jobs.reserve(jobs.size());
  starting_.push_back(std::move(empty));
  Starting& starting = starting_.back();
  std::ranges::move(jobs, std::back_inserter(starting.jobs));
  std::vector<SequenceModel::Source> sources;
  for (const QueuedPtr& job : starting.jobs) sources.emplace_back(job->request.source);
  try {
    StartedSequences started = model_.start(sources);
    starting.decoding = std::move(started.decoding);
    for (std::size_t i = 0; i < started.encoder.size(); ++i) {
      starting.jobs[i]->encoder = std::move(started.encoder[i]);
    }
  } catch (const Error&) {
    const std::vector<QueuedPtr> failed = std::exchange(starting.jobs, {});
    starting_.pop_back();
    end_all(failed, std::current_exception());
  }
  ++statistics_.starts;
}

void StepLoop::read_prompts() {
  std::int64_t budget = kPromptPart;
  while (!starting_.empty()) {
    Starting& first = starting_.front();
    if (!read_some(first, budget)) return;
    if (searches_->rows() > 0 && !steps_.can_join()) return;
    join(first);
    starting_.pop_front();
  }
}

// Whether the prompt has been read. A part that does not fit into the budget waits for the next
// step.
bool StepLoop::read_some(Starting& starting, std::int64_t& budget) {
  const NoGrad no_grad;
  const std::vector<std::int32_t>& prompt = starting.jobs.front()->request.prompt;
  while (starting.read < std::ssize(prompt)) {
    const std::span<const std::int32_t> part = prompt_part(prompt, starting.read);
    if (std::ssize(part) > budget) return false;
    starting.decoding->step(ids_of(part, 1));
    starting.read += std::ssize(part);
    budget -= std::ssize(part);
  }
  return true;
}

void StepLoop::join(Starting& starting) {
  if (searches_->rows() == 0) steps_.clear();
  DecodingSteps::Sources copied;
  for (const QueuedPtr& job : starting.jobs) copied.push_back(job->request.copied);
  steps_.join(std::move(starting.decoding), std::ssize(starting.jobs), copied);
  std::vector<SearchSentence> sentences;
  for (QueuedPtr& job : starting.jobs) {
    sentences.push_back({job->number, job->request.start, job->request.plan});
    running_.emplace(job->number, std::move(job));  // if this fails, the job is where it was
  }
  searches_->join(sentences);
}

// ---- steps --------------------------------------------------------------------------------------

void StepLoop::step() {
  try {
    drop_cancelled();
    read_prompts();
    if (searches_->rows() > 0) step_all();
  } catch (const Error&) {
    fail(std::current_exception());
  } catch (const std::bad_alloc&) {
    fail(std::current_exception());
  }
}

void StepLoop::step_all() {
  ++statistics_.steps;
  statistics_.sentences += std::ssize(running_);
  statistics_.sequences += searches_->rows();
  for (SearchResult& done : searches_->step()) {
    end(done.number, std::move(done.found), std::move(done.error));
  }
  tell_tokens();
}

void StepLoop::tell(QueuedRequest& job, const std::vector<std::int32_t>& tokens) {
  for (; job.told < std::ssize(tokens); ++job.told) {
    const std::int32_t token = tokens[static_cast<std::size_t>(job.told)];
    job.request.on_token(job.request.copied ? job.request.copied->known(token) : token);
  }
}

void StepLoop::tell_tokens() {
  std::vector<std::pair<std::int64_t, std::exception_ptr>> failed;
  for (const auto& [number, job] : running_) {
    if (!job->request.on_token) continue;
    try {
      tell(*job, searches_->sequence_of(number).so_far.tokens);
    } catch (...) {
      failed.emplace_back(number, std::current_exception());
    }
  }
  for (auto& [number, error] : failed) {
    searches_->leave(number);
    end(number, {}, std::move(error));
  }
}

void StepLoop::drop_cancelled() {
  std::vector<std::int64_t> dropped;
  for (const auto& [number, job] : running_) {
    if (job->is_cancelled) dropped.push_back(number);
  }
  for (const std::int64_t number : dropped) {
    searches_->leave(number);
    end(number, {}, std::make_exception_ptr(Cancelled()));
  }
  std::erase_if(starting_, [&](const Starting& starting) {
    if (starting.jobs.size() != 1 || !starting.jobs[0]->is_cancelled) return false;
    queue_.finish(*starting.jobs[0], {}, std::make_exception_ptr(Cancelled()));
    return true;
  });
}

void StepLoop::end(std::int64_t number, NBest found, std::exception_ptr error) {
  const QueuedPtr job = std::move(running_.extract(number).mapped());
  try {
    for (Hypothesis& hypothesis : found) {
      if (hypothesis.trace) {
        hypothesis.weights =
            ModelWeights{.encoder = job->encoder, .decoder = weights_of(hypothesis, job->length())};
      }
      hypothesis.trace.reset();
    }
    if (!found.empty() && job->request.on_token) tell(*job, found[0].tokens);
    if (job->request.copied) {
      for (Hypothesis& hypothesis : found) name_copied(*job->request.copied, hypothesis);
    }
  } catch (...) {
    error = std::current_exception();
    found.clear();
  }
  queue_.finish(*job, std::move(found), std::move(error));
}

// Ends the requests that have not gone elsewhere. This and fail() take no memory: a lack of it may
// be the error, and destructors call them.
void StepLoop::end_all(std::span<const QueuedPtr> jobs, const std::exception_ptr& error) {
  for (const QueuedPtr& job : jobs) {
    if (job) queue_.finish(*job, {}, error);
  }
}

void StepLoop::fail(const std::exception_ptr& error) {
  while (!starting_.empty()) {
    const std::vector<QueuedPtr> jobs = std::move(starting_.front().jobs);
    starting_.pop_front();
    end_all(jobs, error);
  }
  // A failed step has left the sequences in an unknown state.
  searches_.emplace(steps_, make_search);
  steps_.clear();
  while (!running_.empty()) end(running_.begin()->first, {}, error);
}

}  // namespace heed

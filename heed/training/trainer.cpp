#include "heed/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/random.h"
#include "heed/distributed/collectives.h"
#include "heed/generation/model_folder.h"
#include "heed/io/config.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/training/clip.h"
#include "heed/training/loss_guard.h"
#include "heed/training/stream_settings.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

// While it lives, the parameters of the model are replaced by their averages, if there are any.
class Averaged {
 public:
  explicit Averaged(std::optional<Ema>& ema) : ema_(ema) {
    if (ema_) ema_->swap();
  }
  ~Averaged() {
    if (ema_) ema_->swap();
  }
  Averaged(const Averaged&) = delete;
  Averaged& operator=(const Averaged&) = delete;

 private:
  std::optional<Ema>& ema_;
};

// A NaN would be printed with its sign, which has no meaning.
void drop_sign_of_nan(double& value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
}

// The newest checkpoint that rank 0 finds: it alone writes.
std::optional<std::filesystem::path> newest_of_all(Communicator& ranks,
                                                   const Checkpoints& checkpoints) {
  if (ranks.size() == 1) return checkpoints.last();
  const auto own = ranks.is_first() ? checkpoints.last() : std::nullopt;
  const std::string name = text_of_first(ranks, own ? own->string() : "");
  if (name.empty()) return {};
  return name;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Trainer::Trainer(Job& job, const TrainerConfig& config, TrainerPlace place,
                 TrainingWatcher* watcher)
    : job_(job),
      config_(config),
      place_(std::move(place)),
      watcher_(watcher != nullptr ? watcher : &nobody_),
      ranks_(place_.ranks != nullptr ? *place_.ranks : alone_),
      checkpoints_(place_.folder, config.keep_last) {
  config_.validate();
  const std::vector<NamedTensor> parameters = job.model().named_parameters();
  if (config.shards <= 1 && ranks_.size() == 1) {
    optimizer_ = make_optimizer(config.optimizer, parameters);
    gradients_ = std::make_unique<WholeBatches>(job, *optimizer_, config.accumulate);
    return;
  }
  auto sharded = std::make_unique<ShardedBatches>(
      job, ranks_,
      ShardingConfig{.shards = std::max<std::int64_t>(1, config.shards),
                     .accumulate = config.accumulate,
                     .wire = config.wire,
                     .bucket = config.bucket});
  optimizer_ = make_optimizer(config.optimizer, parameters,
                              ranks_.size() > 1 ? sharded->parts() : OwnedParts());
  sharded->set_optimizer(*optimizer_);
  sharded_ = sharded.get();
  gradients_ = std::move(sharded);
}

bool Trainer::resume() {
  const auto folder = newest_of_all(ranks_, checkpoints_);
  if (!folder) return false;
  io::load_config(*folder / kProgressFile, progress_);
  check_position(*folder);
  load_parameters(job_.model(), *folder / kModelFile);
  start_average();
  // The model of a run with a moving average is the average.
  if (std::filesystem::exists(*folder / kParametersFile)) {
    load_parameters(job_.model(), *folder / kParametersFile);
  }
  optimizer_->load(*folder / kOptimizerFile);
  job_.seek({progress_.epoch, progress_.batch, progress_.window});
  job_.restore({progress_.baseline, progress_.baseline_updates});
  default_generator().restore(
      {static_cast<std::uint64_t>(progress_.seed), static_cast<std::uint64_t>(progress_.stream)});
  saved_at_ = progress_.updates;
  if (!ranks_.is_first()) return true;
  checkpoints_.settle(progress_.updates,
                      progress_.judged && progress_.best_update == progress_.updates);
  return true;
}

void Trainer::check_position(const std::filesystem::path& folder) const {
  const std::string other =
      differing_settings(progress_.stream_settings, settings_text(job_.stream_settings()));
  HEED_CHECK(other.empty() || (progress_.batch == 0 && progress_.window == 0),
             "[train] {} is inside epoch {}, and {}: the place in the data is valid only for the "
             "same batches; resume with the earlier value, or change it at the end of an epoch "
             "(--after {}e)",
             folder.string(), progress_.epoch + 1, other, progress_.epoch + 1);
}

void Trainer::start_average() {
  if (config_.ema <= 0.0) return;
  ema_.emplace(job_.model().named_parameters(), EmaConfig{.decay = config_.ema});
}

Outcome Trainer::run() {
  const Frequency after = parse_frequency(config_.after, "after");
  const Frequency valid_freq = parse_frequency(config_.valid_freq, "valid_freq");
  const Frequency save_freq = parse_frequency(config_.save_freq, "save_freq");
  if (!ema_) start_average();
  job_.model().train();
  watcher_->began(progress_.updates);
  bool is_stalled = false;
  bool goes_on = !progress_.validation_due || finish_validation();
  while (goes_on && !is_reached(after, done())) {
    is_stalled = config_.early_stopping > 0 && progress_.stalled >= config_.early_stopping;
    if (is_stalled) break;
    const Done before = done();
    const std::optional<UpdateReport> report = update();
    goes_on = report.has_value();
    if (!goes_on) break;
    watcher_->updated(*report);
    count_skipped(*report);
    best_now_ = false;
    if (is_due(valid_freq, before, done())) goes_on = validate();
    if (best_now_ || is_due(save_freq, before, done())) save();
  }
  if (saved_at_ != progress_.updates) save();
  if (!goes_on) return Outcome::interrupted;
  return is_stalled ? Outcome::stalled : Outcome::finished;
}

// False if the run should stop meanwhile: then the work is not complete.
bool Trainer::unless_interrupted(FunctionRef<void()> work) const {
  try {
    const InterruptScope scope([&] {
      if (place_.interrupted()) throw Interrupted();
    });
    work();
    return true;
  } catch (const Interrupted&) {
    return false;
  }
}

double Trainer::epochs() const { return static_cast<double>(progress_.epoch) + job_.epoch_share(); }

// Nothing if it was interrupted: then everything is as it was before.
std::optional<UpdateReport> Trainer::update() {
  const auto start = Clock::now();
  const auto attempt = [&](FunctionRef<void()> work) { return unless_interrupted(work); };
  const auto sums = gradients_->compute(progress_.updates + 1, attempt);
  if (!sums) return {};
  UpdateReport report{.update = progress_.updates + 1,
                      .loss = sums->loss,
                      .negative_log_likelihood = sums->negative_log_likelihood,
                      .source_tokens = sums->source_tokens,
                      .target_tokens = sums->target_tokens,
                      .sampled = sums->sampled,
                      .ranks = sums->ranks};
  // The gradient scale turns gradients of the sum into gradients of the mean.
  const double share = 1.0 / static_cast<double>(std::max<std::int64_t>(1, sums->counted));
  report.loss *= share;
  report.negative_log_likelihood *= share;
  report.rate = rate(config_.schedule, report.update);
  const double most =
      config_.clip_norm > 0.0 ? config_.clip_norm / share : std::numeric_limits<double>::infinity();
  const double norm = gradients_->norm();
  report.gradient_norm = norm * share;
  for (double* const value :
       {&report.loss, &report.negative_log_likelihood, &report.gradient_norm}) {
    drop_sign_of_nan(*value);
  }
  report.skipped = LossGuard(config_.explosion, progress_).skips(report.loss, report.gradient_norm);
  if (!report.skipped) {
    optimizer_->step({.rate = report.rate, .gradient_scale = clip_scale(norm, most) * share});
    gradients_->share();
    if (ema_) ema_->update();
  } else {
    gradients_->drop();
  }
  optimizer_->zero_grad();
  const StreamPosition position = job_.position();
  progress_.updates = report.update;
  progress_.epoch = position.epoch;
  progress_.batch = position.batch;
  progress_.window = position.window;
  progress_.source_tokens += report.source_tokens;
  progress_.target_tokens += report.target_tokens;
  report.epoch = epochs();
  report.seconds = seconds_since(start);
  progress_.seconds += report.seconds;
  return report;
}

void Trainer::count_skipped(const UpdateReport& report) {
  progress_.skipped += report.skipped ? 1 : 0;
  if (std::isfinite(report.loss) && std::isfinite(report.gradient_norm)) {
    progress_.skipped_in_a_row = 0;
    return;
  }
  const std::int64_t count = ++progress_.skipped_in_a_row;
  const bool is_all = count == progress_.updates;
  HEED_CHECK(
      count <= config_.max_skipped,
      "[train] {} updates in a row had a loss or a gradient that is not finite; the last, "
      "{}, a loss of {} and a gradient of norm {}. They were skipped, so {}; the checkpoints "
      "are in {}",
      count, report.update, report.loss, report.gradient_norm,
      is_all ? "a new model gives such values from the start: check the sizes, the attention "
               "and the norms of the model"
             : "the model itself gives such values since update " +
                   std::to_string(report.update - count) +
                   ": train again with a lower schedule.peak, a longer schedule.warmup or "
                   "clip_norm, or remove the newest checkpoints and resume with these",
      place_.folder.string());
}

// False if it was interrupted: then it is still to be done.
bool Trainer::validate() {
  const auto start = Clock::now();
  const Generator::State random = default_generator().state();
  watcher_->validating();
  job_.model().eval();
  ValidationReport report{.update = progress_.updates, .epoch = epochs()};
  {
    const Averaged averaged(ema_);
    const bool is_complete = unless_interrupted([&] { report.judgements = job_.validate(); });
    progress_.validation_due = !holds_everywhere(ranks_, is_complete);
  }
  job_.model().train();
  if (progress_.validation_due) {
    default_generator().restore(random);
    return false;
  }
  if (report.judgements.empty()) return true;
  for (Judgement& judgement : report.judgements) drop_sign_of_nan(judgement.value);
  const auto deciding = std::ranges::find(report.judgements, config_.stop_on, &Judgement::name);
  HEED_CHECK(deciding != report.judgements.end(),
             "[train] stop_on = \"{}\", but validation gives {}: name one of those",
             config_.stop_on, [&] {
               std::string names;
               for (const Judgement& j : report.judgements) {
                 names += (names.empty() ? "" : ", ") + j.name;
               }
               return names;
             }());
  const double value = deciding->value;
  // Nothing compares with NaN, and a config cannot hold it: such a validation is never the best.
  report.finite = std::isfinite(value);
  report.best = report.finite &&
                (!progress_.judged ||
                 (deciding->higher_is_better ? value > progress_.best : value < progress_.best));
  if (report.best) {
    progress_.judged = true;
    progress_.best = value;
    progress_.best_update = progress_.updates;
    progress_.stalled = 0;
  } else {
    ++progress_.stalled;
  }
  best_now_ = report.best;
  report.stalled = progress_.stalled;
  report.seconds = seconds_since(start);
  watcher_->validated(report);
  return true;
}

// Does the validation in which the earlier run was interrupted. The checkpoint then has what an
// uninterrupted run would have written.
bool Trainer::finish_validation() {
  if (!validate()) return false;
  if (!ranks_.is_first()) return true;
  if (best_now_) checkpoints_.mark_best(progress_.updates);
  io::save_config(checkpoints_.folder(progress_.updates) / kProgressFile, progress_);
  return true;
}

void Trainer::save() {
  const Generator::State random = default_generator().state();
  progress_.seed = static_cast<std::int64_t>(random.seed);
  progress_.stream = static_cast<std::int64_t>(random.next_stream);
  progress_.stream_settings = settings_text(job_.stream_settings());
  progress_.shards = std::max<std::int64_t>(1, config_.shards);
  const JobState state = job_.state();
  progress_.baseline = state.baseline;
  progress_.baseline_updates = state.baseline_updates;
  if (ranks_.size() == 1) {
    write({});
  } else {
    const std::vector<NamedTensor> whole = optimizer_->whole_state(
        [&](std::size_t i, const Tensor& part) { return sharded_->gather(i, part); });
    if (ranks_.is_first()) write(whole);
  }
  saved_at_ = progress_.updates;
}

// Writes a checkpoint; an empty state of the optimiser stands for its own.
void Trainer::write(std::span<const NamedTensor> optimizer_state) {
  checkpoints_.write(progress_.updates, best_now_, [&](const std::filesystem::path& folder) {
    if (ema_) save_parameters(job_.model(), folder / kParametersFile);
    {
      const Averaged averaged(ema_);
      job_.save(folder);
    }
    if (optimizer_state.empty()) {
      optimizer_->save(folder / kOptimizerFile);
    } else {
      optimizer_->save(folder / kOptimizerFile, optimizer_state);
    }
    io::save_config(folder / kProgressFile, progress_);
  });
  watcher_->saved(checkpoints_.folder(progress_.updates));
}

}  // namespace heed

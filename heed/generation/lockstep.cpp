#include "heed/generation/lockstep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

// Calls the model's reorder unless no row changes.
void reorder(StepModel& model, std::span<const std::int64_t> from) {
  bool same = std::ssize(from) == model.rows();
  for (std::size_t i = 0; same && i < from.size(); ++i) {
    same = from[i] == static_cast<std::int64_t>(i);
  }
  if (!same) model.reorder(from);
}

// Adds the log-probability of a token to a hypothesis.
void add(Hypothesis& hypothesis, float log_probability) {
  hypothesis.log_probability += log_probability;
  hypothesis.token_log_probabilities.push_back(log_probability);
}

}  // namespace

// ---- sentences ----------------------------------------------------------------------------------

std::int64_t longest_of(const SearchSentence& sentence) {
  const auto& [number, start, plan] = sentence;
  return std::max(longest_result(plan->options, start.source_length), std::ssize(start.forced));
}

Lockstep::Sentence Lockstep::checked(const SearchSentence& sentence,
                                     const SearchNeeds& needs) const {
  const auto& [number, start, plan] = sentence;
  HEED_ASSERT(plan != nullptr && !sentences_.contains(number));
  const auto check = [&](const char* what, std::int32_t token) {
    HEED_CHECK(token >= 0 && token < vocabulary_ + start.words,
               "[search] the {} token {} is not among the model's {} tokens", what, token,
               vocabulary_ + start.words);
  };
  for (const std::int32_t end : plan->ends) check("end", end);
  for (const std::int32_t token : start.forced) check("forced", token);
  std::vector<std::int32_t> candidates = start.candidates;
  if (!candidates.empty()) {
    candidates.insert(candidates.end(), plan->ends.begin(), plan->ends.end());
    std::ranges::sort(candidates);
    const auto repeated = std::ranges::unique(candidates);
    candidates.erase(repeated.begin(), repeated.end());
    check("candidate", candidates.front());
    check("candidate", candidates.back());
  }
  return {plan,
          needs,
          start.forced,
          longest_of(sentence),
          candidates.empty() ? nullptr : model_.candidates(std::move(candidates)),
          start.words};
}

void Lockstep::join(std::span<const SearchSentence> sentences, std::span<const SearchNeeds> needs) {
  HEED_CHECK(rows() + std::ssize(sentences) == model_.rows(),
             "[search] {} sentences for a model of {} rows: it must be one row for each",
             sentences.size(), model_.rows() - rows());
  std::vector<std::int64_t> from;
  for (std::int64_t row = 0; row < rows(); ++row) from.push_back(row);
  const std::int64_t before = rows();
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::int64_t number = sentences[i].number;
    sentences_.emplace(number, checked(sentences[i], needs[i]));
    for (std::int64_t copy = 0; copy < needs[i].copies; ++copy) {
      sequences_.push_back({.sentence = number, .copy = copy});
      last_.push_back(sentences[i].start.token);
      from.push_back(before + static_cast<std::int64_t>(i));
    }
  }
  if (!from.empty()) reorder(model_, from);
}

void Lockstep::leave(std::int64_t sentence) {
  std::vector<Sequence> next;
  std::vector<std::int64_t> from;
  std::vector<std::int32_t> last;
  for (std::int64_t row = 0; row < rows(); ++row) {
    if (sequence(row).sentence == sentence) continue;
    next.push_back(std::move(sequences_[index(row)]));
    last.push_back(last_[index(row)]);
    from.push_back(row);
  }
  last_ = std::move(last);
  keep(std::move(next), from);
}

void Lockstep::keep(std::vector<Sequence> next, std::span<const std::int64_t> from) {
  sequences_ = std::move(next);
  std::erase_if(sentences_, [&](const auto& sentence) {
    return std::ranges::find(sequences_, sentence.first, &Sequence::sentence) == sequences_.end();
  });
  if (!from.empty()) reorder(model_, from);
}

bool Lockstep::full(std::int64_t row) const {
  return std::ssize(sequence(row).so_far.tokens) >= sentence_of(row).longest;
}

bool Lockstep::is_forced(std::int64_t row) const {
  return sequence(row).so_far.tokens.size() < sentence_of(row).forced.size();
}

bool Lockstep::is_certain(std::int64_t row) const {
  return is_forced(row) || (plan_of(row).is_end_certain && full(row));
}

// ---- scores -------------------------------------------------------------------------------------

void Lockstep::group_rows() {
  groups_.clear();
  places_.clear();
  for (std::int64_t row = 0; row < rows(); ++row) {
    const Sentence& s = sentence_of(row);
    auto group = std::ranges::find_if(groups_, [&](const Scored& g) {
      return g.computes_all == s.computes_all() && g.is_changed == s.is_changed() &&
             g.is_renormalised == s.plan->renormalised && g.tokens == s.needs.tokens &&
             g.candidates == s.candidates && g.words == s.words;
    });
    if (group == groups_.end()) {
      groups_.push_back({.computes_all = s.computes_all(),
                         .is_changed = s.is_changed(),
                         .is_renormalised = s.plan->renormalised,
                         .tokens = s.needs.tokens,
                         .candidates = s.candidates,
                         .words = s.words,
                         .banned = BannedTokens{.renormalised = s.plan->renormalised}});
      group = groups_.end() - 1;
    }
    add_banned(row, group->banned);
    places_.push_back({static_cast<std::size_t>(group - groups_.begin()), std::ssize(group->rows)});
    group->rows.push_back(row);
  }
}

void Lockstep::add_banned(std::int64_t row, BannedTokens& banned) const {
  std::vector<std::int32_t> found;
  for (const Rule& rule : plan_of(row).rules) rule(sequence(row).so_far.tokens, found);
  const std::int64_t tokens = vocabulary_ + sentence_of(row).words;
  std::erase_if(found, [&](std::int32_t token) { return token < 0 || token >= tokens; });
  std::sort(found.begin(), found.end());
  banned.tokens.insert(banned.tokens.end(), found.begin(), std::unique(found.begin(), found.end()));
  banned.starts.push_back(std::ssize(banned.tokens));
}

void Lockstep::step() {
  const NoGrad no_grad;
  const TokenScores all = model_.step(last_);
  std::int64_t words = 0;
  for (const auto& [number, sentence] : sentences_) words = std::max(words, sentence.words);
  HEED_CHECK(all.rows() == rows() && all.vocabulary() == vocabulary_ + words,
             "[search] the model gave scores [{}, {}]: they must be [{}, {}]", all.rows(),
             all.vocabulary(), rows(), vocabulary_ + words);
  group_rows();
  for (Scored& group : groups_) {
    group.scores = groups_.size() == 1 ? all : all.select(group.rows);
    if (group.candidates) group.scores = group.scores.within(group.candidates);
    if (group.computes_all) group.scores.compute();
    group.scores.find_best(group.tokens, group.banned, group.best);
    if (group.is_changed) change_scores(group);
  }
}

void Lockstep::change_scores(Scored& group) const {
  Tensor changed = clone_data(group.scores.all());
  const std::size_t tokens = index(vocabulary_ + group.words);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const std::int64_t row = group.rows[i];
    const std::span<float> scores = changed.mutable_values<float>().subspan(i * tokens, tokens);
    if (sentence_of(row).needs.changed == ChangedScores::log_probabilities) {
      for (float& score : scores) score = group.best.normalisers[i](score);
    }
    for (const ScoreChange& change : plan_of(row).changes) {
      change(sequence(row).so_far.tokens, scores);
    }
  }
  group.changed = TokenScores(changed);
  group.changed.find_best(group.tokens, group.banned, group.best_changed);
}

void Lockstep::check_scores(std::int64_t row) const {
  HEED_CHECK(!std::isnan(scored(row).best.normalisers[index(scored_row(row))].log_total),
             "[search] sentence {}, token {}: the model's scores hold NaN or +inf; are its weights "
             "those of a training run that diverged?",
             sequence(row).sentence, sequence(row).so_far.tokens.size());
}

std::span<const std::int32_t> Lockstep::likeliest(std::int64_t row) const {
  const Sentence& sentence = sentence_of(row);
  std::span<const std::int32_t> found =
      scored(row).chosen().of(scored_row(row)).first(index(sentence.needs.tokens));
  const std::size_t one = std::min<std::size_t>(1, found.size());
  if (is_forced(row)) {
    return std::span(sentence.forced).subspan(sequence(row).so_far.tokens.size(), one);
  }
  if (full(row)) found = std::span(sentence.plan->ends).first(one);
  // A score above -inf can still have a log-probability of -inf if another score is far larger.
  const auto possible = [&](std::int32_t token) {
    return token != kernels::kNoToken && std::isfinite(log_probability(row, token));
  };
  while (!found.empty() && !possible(found.back())) found = found.first(found.size() - 1);
  return found;
}

float Lockstep::log_probability(std::int64_t row, std::int32_t token) const {
  if (is_certain(row)) return 0.0f;
  return scored(row).best.normalisers[index(scored_row(row))](score_of(row, token));
}

float Lockstep::score_of(std::int64_t row, std::int32_t token) const {
  if (plan_of(row).renormalised && std::ranges::binary_search(banned(row), token)) {
    return -std::numeric_limits<float>::infinity();
  }
  const Scored& group = scored(row);
  const std::int64_t at = scored_row(row);
  const std::span<const std::int32_t> best = group.best.of(at);
  const auto found = std::ranges::find(best, token);
  return found == best.end()
             ? group.scores.of(at, token)
             : group.best.logits[index(at * group.best.k) + index(found - best.begin())];
}

float Lockstep::gain(std::int64_t row, std::int32_t token) const {
  if (is_certain(row)) return 0.0f;
  const Sentence& sentence = sentence_of(row);
  const bool takes_changed =
      sentence.is_changed() && sentence.needs.changed == ChangedScores::log_probabilities;
  return takes_changed ? scores(row)[static_cast<std::size_t>(token)] : log_probability(row, token);
}

std::span<const float> Lockstep::scores(std::int64_t row) const {
  const Scored& group = scored(row);
  return (group.is_changed ? group.changed : group.scores).row(scored_row(row));
}

float Lockstep::shift(std::int64_t row) const {
  return scored(row).chosen().normalisers[index(scored_row(row))].shift;
}

std::span<const std::int32_t> Lockstep::banned(std::int64_t row) const {
  return scored(row).banned.of(scored_row(row));
}

// ---- extensions ---------------------------------------------------------------------------------

bool Lockstep::is_end(std::int64_t row, std::int32_t token) const {
  const std::vector<std::int32_t>& ends = plan_of(row).ends;
  return std::ranges::find(ends, token) != ends.end();
}

std::optional<Finish> Lockstep::finish(const Extension& extension) const {
  const auto [row, token] = extension;
  if (is_end(row, token)) return full(row) ? Finish::length : Finish::end;
  const SearchPlan& plan = plan_of(row);
  const Sequence& s = sequence(row);
  if (plan.stop) {
    std::vector<std::int32_t> tokens = s.so_far.tokens;
    tokens.push_back(token);
    if (plan.stop(tokens)) return Finish::stop;
  }
  const bool is_last = std::ssize(s.so_far.tokens) + 1 >= sentence_of(row).longest;
  return plan.is_cut && is_last ? std::optional(Finish::length) : std::nullopt;
}

Hypothesis Lockstep::finished(const Extension& extension, Finish finish) const {
  const auto [row, token] = extension;
  Hypothesis hypothesis = sequence(row).so_far;
  if (!is_end(row, token)) hypothesis.tokens.push_back(token);
  add(hypothesis, log_probability(row, token));
  const auto length = std::ssize(hypothesis.token_log_probabilities);
  const double rank = sequence(row).rank + gain(row, token);
  hypothesis.score = rank / length_divisor(plan_of(row).options, length);
  hypothesis.finish = finish;
  hypothesis.trace = model_.trace(row);
  return hypothesis;
}

void Lockstep::advance(std::span<const Extension> extensions) {
  std::vector<Sequence> next;
  std::vector<std::int64_t> from;
  last_.clear();
  for (const auto& [row, token] : extensions) {
    Sequence s = sequence(row);
    s.so_far.tokens.push_back(token);
    add(s.so_far, log_probability(row, token));
    s.rank += gain(row, token);
    next.push_back(std::move(s));
    from.push_back(row);
    last_.push_back(token);
  }
  keep(std::move(next), from);
}

}  // namespace heed

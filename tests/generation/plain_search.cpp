#include "tests/generation/plain_search.h"

#include <gtest/gtest.h>

#include <tuple>

#include "heed/ops/softmax.h"

namespace heed::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Next {
  std::int32_t token;
  float score;  // the logit with the changes of the plan
  float log_probability;
  float gain;  // the log-probability with the changes of the plan
};

std::int64_t longest_of(const PlainSentence& s, const SearchPlan& plan) {
  return std::max(longest_result(plan.options, s.start.source_length), std::ssize(s.start.forced));
}

std::vector<float> changed(std::vector<float> scores, const SearchPlan& plan,
                           const Tokens& prefix) {
  for (const ScoreChange& change : plan.changes) change(prefix, scores);
  return scores;
}

// Every token that may follow a prefix, lowest first.
std::vector<Next> nexts(const PlainSentence& s, const SearchPlan& plan, const Tokens& prefix) {
  Tokens fed = {s.start.token};
  fed.insert(fed.end(), prefix.begin(), prefix.end());
  if (prefix.size() < s.start.forced.size()) {
    return {{s.start.forced[prefix.size()], 0.0f, 0.0f, 0.0f}};
  }
  const bool full = std::ssize(prefix) >= longest_of(s, plan);
  if (full && plan.is_end_certain) return {{plan.ends[0], 0.0f, 0.0f, 0.0f}};
  Tokens banned;
  for (const Rule& rule : plan.rules) rule(prefix, banned);
  std::vector<float> logits = s.scorer(s.sentence, fed);
  for (const std::int32_t token : plan.renormalised ? banned : Tokens{}) {
    if (token < std::ssize(logits)) logits[static_cast<std::size_t>(token)] = -kInfinity;
  }
  const Tensor x = from_values(std::span<const float>(logits), {std::ssize(logits)});
  const std::vector<float> log_p = log_softmax(x).to_vector<float>();
  const std::vector<float> scores = changed(logits, plan, prefix);
  const std::vector<float> gains = changed(log_p, plan, prefix);
  std::vector<Next> all;
  for (std::int32_t i = 0; i < std::ssize(logits); ++i) {
    const bool is_banned = std::find(banned.begin(), banned.end(), i) != banned.end();
    const auto at = static_cast<std::size_t>(i);
    if (full ? i != plan.ends[0] : is_banned) continue;
    if (std::isfinite(log_p[at])) all.push_back({i, scores[at], log_p[at], gains[at]});
  }
  return all;
}

bool is_end(const SearchPlan& plan, std::int32_t token) {
  return std::ranges::count(plan.ends, token) > 0;
}

// Whether a hypothesis is complete after its last token.
bool is_complete(const PlainSentence& s, const SearchPlan& plan, const Hypothesis& h,
                 std::int32_t last) {
  if (is_end(plan, last) || (plan.stop && plan.stop(h.tokens))) return true;
  return plan.is_cut && std::ssize(h.tokens) >= longest_of(s, plan);
}

double score_of(const SearchOptions& o, double rank, std::size_t tokens) {
  const auto length = static_cast<double>(tokens);
  return rank / std::pow(o.length_penalty_form == LengthPenalty::power ? length : (5 + length) / 6,
                         o.length_penalty);
}

// A hypothesis and the sum of its gains.
struct Ranked {
  Hypothesis h = {};
  double rank = 0.0;
};

Ranked extended(Ranked ranked, const SearchPlan& plan, const Next& next) {
  Hypothesis& h = ranked.h;
  ranked.rank += next.gain;
  h.log_probability += next.log_probability;
  h.token_log_probabilities.push_back(next.log_probability);
  if (!is_end(plan, next.token)) h.tokens.push_back(next.token);
  h.score = score_of(plan.options, ranked.rank, h.token_log_probabilities.size());
  return ranked;
}

NBest best(NBest all, std::int64_t n) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (std::ssize(all) > n) all.resize(static_cast<std::size_t>(n));
  return all;
}

struct Candidate {
  double rank;
  float order;  // among the tokens of a row
  std::size_t beam;
  Next next;
};

std::vector<Candidate> ordered_candidates(const PlainSentence& s, const SearchPlan& plan,
                                          const std::vector<Ranked>& running) {
  std::vector<Candidate> all;
  for (std::size_t beam = 0; beam < running.size(); ++beam) {
    for (const Next& next : nexts(s, plan, running[beam].h.tokens)) {
      const float order = plan.changes.empty() ? next.score : next.gain;
      all.push_back({running[beam].rank + next.gain, order, beam, next});
    }
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.rank, a.beam, -a.order, a.next.token) <
           std::tuple(-b.rank, b.beam, -b.order, b.next.token);
  });
  return all;
}

void all_results(const PlainSentence& s, const SearchPlan& plan, const Ranked& so_far, NBest& all) {
  for (const Next& next : nexts(s, plan, so_far.h.tokens)) {
    const Ranked longer = extended(so_far, plan, next);
    if (is_complete(s, plan, longer.h, next.token)) {
      all.push_back(longer.h);
    } else {
      all_results(s, plan, longer, all);
    }
  }
}

}  // namespace

NBest plain_beam(const PlainSentence& s, const SearchPlan& plan) {
  const std::int64_t beam = plan.options.beam_size;
  const bool first = plan.options.stopping == Stopping::first;
  std::vector<Ranked> running(1);
  NBest finished;
  while (!running.empty()) {
    std::vector<Ranked> next_running;
    std::int64_t place = 0;
    for (const Candidate& c : ordered_candidates(s, plan, running)) {
      const Ranked longer = extended(running[c.beam], plan, c.next);
      if (!is_complete(s, plan, longer.h, c.next.token)) {
        if (std::ssize(next_running) < beam) next_running.push_back(longer);
      } else if (place < beam && !(first && std::ssize(finished) == beam)) {
        finished.push_back(longer.h);
      }
      ++place;
    }
    running = next_running;
    if (first && std::ssize(finished) == beam) break;
    if (plan.options.stopping == Stopping::estimate && !running.empty()) {
      finished = best(finished, beam);
      const Ranked& hope = running.front();
      const double at_best = score_of(plan.options, hope.rank, hope.h.tokens.size());
      if (std::ssize(finished) == beam && at_best <= finished.back().score) break;
    }
  }
  return best(finished, plan.options.n_best);
}

NBest plain_greedy(const PlainSentence& s, const SearchPlan& plan) {
  Ranked found;
  while (true) {
    const std::vector<Next> all = nexts(s, plan, found.h.tokens);
    if (all.empty()) return {};
    Next next = *std::max_element(all.begin(), all.end(),
                                  [](const Next& a, const Next& b) { return a.score < b.score; });
    next.gain = next.log_probability;
    found = extended(found, plan, next);
    if (is_complete(s, plan, found.h, next.token)) return {found.h};
  }
}

NBest best_of_all(const PlainSentence& s, const SearchPlan& plan) {
  NBest all;
  all_results(s, plan, {}, all);
  return best(all, plan.options.n_best);
}

}  // namespace heed::test

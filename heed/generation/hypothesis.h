// The inputs and results of searches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/io/codec.h"
#include "heed/models/decoding.h"

namespace heed {

struct StepTrace;

/// A token of a result that is no token of the vocabulary but a word of the source.
struct CopiedToken {
  std::int64_t at = 0;  ///< Its place among the tokens.
  std::string word;

  friend bool operator==(const CopiedToken&, const CopiedToken&) = default;
};

/// The start of one sentence.
struct Start {
  std::int32_t token = 1;  ///< The token before the first one: begin, or the last of a prompt.
  /// The number of source tokens, which limits the length of the result; none: there is no source.
  std::optional<std::int64_t> source_length = 0;
  std::uint64_t stream =
      0;  ///< Stream of random numbers; it belongs to the sentence, independent of the batch.
  /// The first tokens of the result, which are given: they count in its length, with probability 1.
  std::vector<std::int32_t> forced = {};
  /// The tokens, ascending, among which all others are chosen; none: the whole vocabulary. End
  /// tokens need not be among them.
  std::vector<std::int32_t> candidates = {};
  /// The number of words that may be copied from the source, which are the tokens from V on.
  std::int64_t words = 0;
};

/// Why a result is complete.
enum class Finish : std::uint8_t {
  end,     ///< An end token was chosen.
  stop,    ///< The text has a stop string (SearchPlan::stop).
  length,  ///< It has the maximum length.
};

/// The names that outputs use.
constexpr std::array<io::EnumName<Finish>, 3> enum_names(Finish) {
  return {{{Finish::end, "end"}, {Finish::stop, "stop"}, {Finish::length, "length"}}};
}

/// One result. Probabilities are those of the model, independent of rules and sampling.
struct Hypothesis {
  std::vector<std::int32_t> tokens = {};  ///< Without the end token.
  /// The tokens that are words of the source; among `tokens` they are unknown.
  std::vector<CopiedToken> copied = {};
  /// The log-probability divided by the length penalty; that of a beam is with the plan's changes.
  double score = 0.0;
  double log_probability = 0.0;  ///< Of all tokens, including the end token if it has one.
  std::vector<float> token_log_probabilities = {};  ///< One per token, then the end token's.
  Finish finish = Finish::end;
  std::shared_ptr<const StepTrace> trace = {};  ///< Of the steps, while a search runs, if observed.
  /// The attention weights of the tokens, if they were observed.
  std::optional<ModelWeights> weights = {};
};

/// The results of one sentence, best first. There are fewer than requested, or none, only if the
/// model and the rules allow no others.
using NBest = std::vector<Hypothesis>;

}  // namespace heed

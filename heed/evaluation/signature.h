// The signature of a score: everything needed to compute the same number, in sacreBLEU's notation,
// such as nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::evaluation {

/// The version of sacreBLEU that scores and output are equal to.
inline constexpr std::string_view kSacrebleuVersion = "2.6.0";

/// One part of a signature.
struct SignatureItem {
  std::string key;
  std::string short_key;
  std::string value;
};

/// The content of a signature.
struct Signature {
  std::size_t references = 1;                          ///< References per sentence.
  std::optional<std::int64_t> bootstrap_trials = {};   ///< Set for bootstrap resampling.
  std::optional<std::int64_t> randomised_trials = {};  ///< Set for approximate randomisation.
  std::uint64_t seed = 0;                              ///< Shown only with trials.
  std::vector<SignatureItem> metric = {};              ///< Parts from the metric.
};

/// All parts in order.
std::vector<SignatureItem> items(const Signature& signature);

/// "nrefs:1|…|version:2.6.0", or in short form "#:1|…|v:2.6.0".
std::string to_string(const Signature& signature, bool in_short);

}  // namespace heed::evaluation

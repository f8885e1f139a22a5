#include "heed/evaluation/signature.h"

#include <fmt/format.h>

namespace heed::evaluation {

std::vector<SignatureItem> items(const Signature& signature) {
  std::vector<SignatureItem> all;
  const auto add = [&](const char* key, const char* short_key, std::string value) {
    all.push_back({key, short_key, std::move(value)});
  };
  add("nrefs", "#", fmt::to_string(signature.references));
  if (signature.bootstrap_trials) add("bs", "bs", fmt::to_string(*signature.bootstrap_trials));
  if (signature.randomised_trials) add("ar", "ar", fmt::to_string(*signature.randomised_trials));
  if (signature.bootstrap_trials || signature.randomised_trials) {
    add("seed", "rs", fmt::to_string(signature.seed));
  }
  all.insert(all.end(), signature.metric.begin(), signature.metric.end());
  add("version", "v", std::string(kSacrebleuVersion));
  return all;
}

std::string to_string(const Signature& signature, bool in_short) {
  std::string text;
  for (const SignatureItem& item : items(signature)) {
    if (!text.empty()) text += '|';
    text += (in_short ? item.short_key : item.key) + ":" + item.value;
  }
  return text;
}

}  // namespace heed::evaluation

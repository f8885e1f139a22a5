#include "heed/training/frequency.h"

#include <charconv>

#include "heed/base/error.h"
#include "heed/io/value.h"

namespace heed {
namespace {

std::int64_t in_units(const Frequency& frequency, const Done& done) {
  return frequency.unit == Frequency::Unit::epochs ? done.epochs : done.updates;
}

}  // namespace

Frequency parse_frequency(std::string_view text, std::string_view what) {
  Frequency frequency;
  const char* const end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, frequency.count);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  bool good = error == std::errc() && frequency.count >= 0 && frequency.count <= kMost;
  if (good && rest != end && (*rest == 'K' || *rest == 'M')) {
    frequency.count *= *rest == 'K' ? 1000 : 1000000;
    ++rest;
  }
  if (good && rest != end) {
    good = rest + 1 == end && (*rest == 'u' || *rest == 'e');
    if (*rest == 'e') frequency.unit = Frequency::Unit::epochs;
  }
  HEED_CHECK(good,
             "[train] {} = {}: write \"10e\" for ten epochs, \"500u\" or \"5Ku\" for updates, "
             "\"0\" for never",
             what, io::in_quotes(text));
  return frequency;
}

bool is_due(const Frequency& frequency, const Done& before, const Done& now) {
  if (frequency.count == 0) return false;
  return in_units(frequency, before) / frequency.count < in_units(frequency, now) / frequency.count;
}

bool is_reached(const Frequency& frequency, const Done& now) {
  return frequency.count > 0 && in_units(frequency, now) >= frequency.count;
}

}  // namespace heed

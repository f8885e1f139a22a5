#include "heed/models/importers/rotary.h"

#include <fmt/format.h>
#include <algorithm>

#include <cmath>

#include "heed/base/error.h"
#include "heed/io/value.h"

namespace heed {
namespace {

constexpr double kRopeBase = 10000.0;

std::int64_t original_length(const ForeignConfig& config, const ForeignConfig& scaling) {
  if (scaling.has("original_max_position_embeddings")) {
    return scaling.integer("original_max_position_embeddings");
  }
  return config.integer({"original_max_position_embeddings", "max_position_embeddings"});
}

// The factor of cosines and sines that DeepSeek's settings describe.
double yarn_factor(double scaling, double mscale) {
  return scaling <= 1.0 ? 1.0 : 0.1 * mscale * std::log(scaling) + 1.0;
}

std::string yarn_options(const ForeignConfig& config, const ForeignConfig& scaling) {
  const std::int64_t original = original_length(config, scaling);
  HEED_CHECK(original > 0,
             "[import] {}: \"original_max_position_embeddings\" is {}: it must be positive",
             config.source(), original);
  const double factor = scaling.has("factor") ? scaling.number("factor")
                                              : config.number("max_position_embeddings") /
                                                    static_cast<double>(original);
  std::string text = fmt::format(
      " scaling_kind=yarn scaling={} original_length={} beta_fast={} beta_slow={}", factor,
      original, scaling.number("beta_fast", 32.0), scaling.number("beta_slow", 1.0));
  const double mscale = scaling.number("mscale", 0.0), all = scaling.number("mscale_all_dim", 0.0);
  if (scaling.has("attention_factor")) {
    text += fmt::format(" attention_factor={}", scaling.number("attention_factor"));
  } else if (mscale != 0.0 && all != 0.0) {
    text +=
        fmt::format(" attention_factor={}", yarn_factor(factor, mscale) / yarn_factor(factor, all));
  }
  if (!scaling.boolean("truncate", true)) text += " truncate=false";
  return text;
}

}  // namespace

std::string import_rope(const ForeignConfig& config) {
  const ForeignConfig scaling = config.section({"rope_parameters", "rope_scaling"});
  return import_rope(config, scaling, config.number("rope_theta", kRopeBase));
}

std::string import_rope(const ForeignConfig& config, const ForeignConfig& scaling, double base) {
  std::string text = fmt::format("rope halves={} base={}", !config.boolean(kInterleavedRope, false),
                                 scaling.number("rope_theta", base));
  const double part =
      scaling.number("partial_rotary_factor", config.number("partial_rotary_factor", 1.0));
  HEED_CHECK(part == 1.0, "[import] {}: \"partial_rotary_factor\" is {}: heed rotates all features",
             config.source(), part);
  const std::string kind = scaling.text({"rope_type", "type"}, "default");
  if (kind == "default") return text;
  if (kind == "yarn") return text + yarn_options(config, scaling);
  HEED_CHECK(kind == "linear" || kind == "dynamic" || kind == "llama3",
             "[import] {}: there is no rotary scaling {}: heed computes default, linear, dynamic, "
             "llama3 and yarn",
             config.source(), io::in_quotes(kind));
  text += fmt::format(" scaling_kind={} scaling={}", kind, scaling.number("factor"));
  if (kind == "linear") return text;
  if (kind == "dynamic") {
    return text + fmt::format(" original_length={}", config.integer("max_position_embeddings"));
  }
  return text + fmt::format(" original_length={} low_frequency_factor={} high_frequency_factor={}",
                            original_length(config, scaling), scaling.number("low_freq_factor"),
                            scaling.number("high_freq_factor"));
}

std::int64_t import_context(const ForeignConfig& config) {
  const ForeignConfig scaling = config.section({"rope_parameters", "rope_scaling"});
  const bool adapts = scaling.text({"rope_type", "type"}, "default") == "dynamic";
  return adapts ? 0 : std::max<std::int64_t>(0, config.integer("max_position_embeddings", 0));
}

}  // namespace heed

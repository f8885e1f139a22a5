#include "heed/models/importers/rotary.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/io/value.h"

namespace heed {
namespace {

constexpr double kBase = 10000.0;

std::int64_t original_length(const ForeignConfig& config, const ForeignConfig& scaling) {
  if (scaling.has("original_max_position_embeddings")) {
    return scaling.integer("original_max_position_embeddings");
  }
  return config.integer({"original_max_position_embeddings", "max_position_embeddings"});
}

}  // namespace

std::string import_rope(const ForeignConfig& config) {
  const ForeignConfig scaling = config.section({"rope_parameters", "rope_scaling"});
  return import_rope(config, scaling, config.number("rope_theta", kBase));
}

std::string import_rope(const ForeignConfig& config, const ForeignConfig& scaling, double base) {
  std::string text = fmt::format("rope halves=true base={}", scaling.number("rope_theta", base));
  const double part =
      scaling.number("partial_rotary_factor", config.number("partial_rotary_factor", 1.0));
  HEED_CHECK(part == 1.0, "[import] {}: \"partial_rotary_factor\" is {}: heed rotates all features",
             config.source(), part);
  const std::string kind = scaling.text({"rope_type", "type"}, "default");
  if (kind == "default") return text;
  text += fmt::format(" scaling_kind={} scaling={}", kind, scaling.number("factor"));
  if (kind == "linear") return text;
  text += fmt::format(" original_length={}", original_length(config, scaling));
  if (kind == "dynamic") return text;
  if (kind == "llama3") {
    return text + fmt::format(" low_frequency_factor={} high_frequency_factor={}",
                              scaling.number("low_freq_factor"),
                              scaling.number("high_freq_factor"));
  }
  HEED_CHECK(kind == "yarn",
             "[import] {}: there is no rotary scaling {}: heed computes default, linear, dynamic, "
             "llama3 and yarn",
             config.source(), io::in_quotes(kind));
  text += fmt::format(" beta_fast={} beta_slow={}", scaling.number("beta_fast", 32.0),
                      scaling.number("beta_slow", 1.0));
  if (scaling.has("attention_factor")) {
    text += fmt::format(" attention_factor={}", scaling.number("attention_factor"));
  }
  return text;
}

}  // namespace heed

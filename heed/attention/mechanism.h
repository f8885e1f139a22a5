// An attention mechanism as an entry of the registry: what it computes, who described it, what it
// costs, what it goes with, and how a layer is made from options. The entry stands in the header of
// the layer, below its class.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention/layer.h"
#include "heed/base/random.h"
#include "heed/io/config.h"

namespace heed {

/// What a layer makes of its input.
enum class Form : std::uint8_t {
  sequence,  ///< x [B, Tq, E] -> [B, Tq, E].
  pointer,   ///< x [B, Tq, E] -> the probability of each position asked, [B, Tq, Tk].
  reader,    ///< Query x [B, Tq, E], document memory [B, Tk, E] -> its words' weights [B, Tk].
  pool,      ///< x [B, T, E] -> a few vectors that stand for it all, [B, R, E].
  picture,   ///< x [B, E, H, W] -> the same shape.
  memory,    ///< x [B, T, E] -> [B, T, E] by N slots of its own, which weights [B, R, T, N] are of.
};

/// What may be asked of a mechanism, and what its contract is.
struct Traits {
  Form form = Form::sequence;
  bool self = true;      ///< May ask x itself.
  bool cross = true;     ///< May be given a memory.
  bool lengths = true;   ///< Knows lengths.
  bool causal = true;    ///< Knows causal.
  bool mask = true;      ///< Takes any mask.
  bool decodes = false;  ///< Has start and step.
  bool gradient = true;  ///< The result is differentiable; a position that is drawn is not.
  bool fused = true;     ///< Runs on the tile kernel.
  double growth = 2.0;   ///< Its cost grows as n to the power of.
};

/// What is said of a mechanism.
struct About {
  std::string_view title;
  std::string_view formula;
  std::string_view paper;
  std::string_view cost;      ///< Of one layer, n positions, d features.
  std::string_view composes;  ///< With what.
  /// Options of a small layer that shows what is special, "key=value key=value": what tests,
  /// pictures and benchmarks use besides embed and heads.
  std::string_view sample = "";
};

struct Mechanism {
  std::string_view name;
  About about;
  Traits traits;
  std::unique_ptr<AttentionLayer> (*make)(std::span<const std::string> options,
                                          Generator& generator);
  /// The options with their defaults.
  std::vector<io::FieldInfo> (*options)();
};

/// What forms of multi-head attention go with.
inline constexpr std::string_view kWithEverything = "all masks, all positions, decoding, observers";

/// The entry of a layer class whose Config is a struct of fields.
template <typename Layer>
constexpr Mechanism mechanism(std::string_view name, About about, Traits traits = {}) {
  return {name, about, traits,
          [](std::span<const std::string> options,
             Generator& generator) -> std::unique_ptr<AttentionLayer> {
            typename Layer::Config config;
            io::set_fields(config, options);
            return std::make_unique<Layer>(config, generator);
          },
          [] { return io::list_fields(typename Layer::Config{}); }};
}

}  // namespace heed

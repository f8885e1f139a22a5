// An attention mechanism as an entry of the registry: what it computes, who described it, what it
// costs, what it works with, and its typed config, from which a layer is made. The entry stands in
// the header of the layer, below its class.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention/layer.h"
#include "heed/attention/position.h"
#include "heed/base/random.h"
#include "heed/io/config.h"

namespace heed {

/// What a layer computes from its input.
enum class Form : std::uint8_t {
  sequence,  ///< x [B, Tq, E] -> [B, Tq, E].
  pointer,   ///< x [B, Tq, E] -> the probability of each position of the memory, [B, Tq, Tk].
  reader,    ///< Query x [B, Tq, E], document memory [B, Tk, E] -> weights of its words [B, Tk].
  pool,      ///< x [B, T, E] -> R vectors that summarise it, [B, R, E].
  picture,   ///< x [B, E, H, W] -> the same shape.
  memory,    ///< x [B, T, E] -> [B, T, E] through N slots; weights are [B, R, T, N].
};

/// How the loss reaches the scores of a mechanism.
enum class Gradient : std::uint8_t {
  exact,
  straight_through,  ///< Forward takes a sample, backward uses the gradient of a softmax.
  none,              ///< A sample has no gradient; REINFORCE (attention/reinforce.h) estimates it.
};

/// The names that listings use.
constexpr std::array<io::EnumName<Gradient>, 3> enum_names(Gradient) {
  return {{{Gradient::exact, "exact"},
           {Gradient::straight_through, "straight_through"},
           {Gradient::none, "none"}}};
}

/// What a mechanism supports, and what its contract is.
struct Traits {
  Form form = Form::sequence;
  bool self = true;      ///< Self-attention: works without a memory.
  bool cross = true;     ///< Cross-attention: accepts a memory.
  bool lengths = true;   ///< Accepts lengths.
  bool causal = true;    ///< Accepts causal.
  bool mask = true;      ///< Accepts any mask.
  bool decodes = false;  ///< Has start() and step().
  /// Values are the states of the memory themselves, so that the result has its features, not those
  /// of x.
  bool plain_values = false;
  Gradient gradient = Gradient::exact;
  bool fused = true;    ///< Runs on the tile kernel.
  double growth = 2.0;  ///< Cost grows as n to this power.
};

/// The description of a mechanism.
struct About {
  std::string_view title;
  std::string_view formula;
  std::string_view paper;
  std::string_view cost;      ///< Of one layer, n positions, d features.
  std::string_view composes;  ///< What it can be combined with.
  /// Options of a small layer that shows what is special, "key=value key=value": tests, pictures
  /// and benchmarks use them besides embed and heads.
  std::string_view sample = "";
};

/// Options that a model sets for all attention layers of a block. A layer's own options win.
struct BlockOptions {
  std::optional<std::int64_t> embed = {};
  std::optional<std::int64_t> memory_embed = {};
  std::optional<std::int64_t> heads = {};
  std::optional<std::int64_t> kv_heads = {};
  std::optional<std::int64_t> head_size = {};
  std::optional<bool> bias = {};
  std::optional<double> dropout = {};           ///< Of attention weights.
  std::optional<PositionConfig> position = {};  ///< A code that acts inside attention.
  std::optional<bool> combine = {};             ///< Luong's tanh(W_c [context; x]) in the layer.
};

/// The typed config of a mechanism, without its type.
class MechanismConfig {
 public:
  virtual ~MechanismConfig() = default;
  virtual std::unique_ptr<MechanismConfig> clone() const = 0;
  /// Sets one option from "key=value".
  virtual void set(std::string_view option) = 0;
  /// Takes the options of a block, except those whose names are in `own`.
  virtual void inherit(const BlockOptions& block, std::span<const std::string> own) = 0;
  /// The options with their values.
  virtual std::vector<io::FieldInfo> options() const = 0;
  /// Makes a layer; throws heed::Error if the options do not fit together.
  virtual std::unique_ptr<AttentionLayer> make(Generator& generator) const = 0;
};

namespace detail {

// Copies the options of a block that the config has. A config that contains another one under
// "multi_head" or "global" inherits through it.
template <typename Config>
void inherit_options(Config& config, const BlockOptions& block, std::span<const std::string> own) {
  const auto take = [&]<typename T>(std::string_view key, T& member, const std::optional<T>& from) {
    if (from && std::ranges::find(own, key) == own.end()) member = *from;
  };
  if constexpr (requires { config.multi_head; }) inherit_options(config.multi_head, block, own);
  if constexpr (requires { config.global; }) inherit_options(config.global, block, own);
  if constexpr (requires { config.embed; }) take("embed", config.embed, block.embed);
  if constexpr (requires { config.memory_embed; }) {
    take("memory_embed", config.memory_embed, block.memory_embed);
  }
  if constexpr (requires { config.heads; }) take("heads", config.heads, block.heads);
  if constexpr (requires { config.kv_heads; }) take("kv_heads", config.kv_heads, block.kv_heads);
  if constexpr (requires { config.head_size; }) {
    take("head_size", config.head_size, block.head_size);
  }
  if constexpr (requires { config.bias; }) take("bias", config.bias, block.bias);
  if constexpr (requires { config.dropout; }) take("dropout", config.dropout, block.dropout);
  if constexpr (requires { config.combine; }) take("combine", config.combine, block.combine);
  if constexpr (requires { config.position; }) take("position", config.position, block.position);
}

template <typename Layer>
class ConfigOf : public MechanismConfig {
 public:
  using Config = typename Layer::Config;

  std::unique_ptr<MechanismConfig> clone() const override {
    return std::make_unique<ConfigOf>(*this);
  }
  void set(std::string_view option) override { io::Fields(config).set(option); }
  void inherit(const BlockOptions& block, std::span<const std::string> own) override {
    inherit_options(config, block, own);
  }
  std::vector<io::FieldInfo> options() const override { return io::list_fields(config); }
  std::unique_ptr<AttentionLayer> make(Generator& generator) const override {
    if constexpr (requires { config.validate(); }) config.validate();
    return std::make_unique<Layer>(config, generator);
  }

  Config config = {};
};

}  // namespace detail

struct Mechanism {
  std::string_view name;
  About about;
  Traits traits;
  /// The config with its defaults.
  std::unique_ptr<MechanismConfig> (*config)();

  /// The options with their defaults.
  std::vector<io::FieldInfo> options() const { return config()->options(); }
};

/// What forms of multi-head attention work with.
inline constexpr std::string_view kWithEverything = "all masks, all positions, decoding, observers";

/// The entry of a layer class whose Config is a struct of fields.
template <typename Layer>
constexpr Mechanism mechanism(std::string_view name, About about, Traits traits = {}) {
  return {name, about, traits, []() -> std::unique_ptr<MechanismConfig> {
            return std::make_unique<detail::ConfigOf<Layer>>();
          }};
}

}  // namespace heed

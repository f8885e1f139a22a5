#include "heed/models/block.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

BlockOptions sizes_of(const BlockConfig& block) {
  return {.embed = block.embed,
          .heads = block.heads,
          .kv_heads = block.kv_heads,
          .head_size = block.head_size,
          .bias = block.bias,
          .dropout = block.attention_dropout.value_or(block.dropout)};
}

}  // namespace

void BlockConfig::fields(io::Fields& field) {
  field("embed", embed, "features of a position", {.min = 1, .max = kMaxFeatures});
  field("heads", heads, "heads of attention", {.min = 1, .max = kMaxFeatures});
  field("kv_heads", kv_heads, "heads of keys and values; 0: as many as heads",
        {.min = 0, .max = kMaxFeatures});
  field("head_size", head_size, "features of a head; 0: embed / heads",
        {.min = 0, .max = kMaxFeatures});
  field("hidden", hidden, "features inside the feed-forward network; 0: four times embed",
        {.min = 0, .max = kMaxFeatures});
  field("activation", activation,
        "activation of the feed-forward network; the last three are gated");
  field("norm", norm.kind, "kind of the norms: LayerNorm or RMSNorm");
  field("norm_first", norm.first, "norms before attention and feed-forward (pre-norm), not after");
  field("norm_both", norm.both,
        "if norm_first: norms also after attention and feed-forward, before the residual sum");
  field("norm_eps", norm.eps, "added to the variance in norms", {.min = 0});
  field("final_norm", norm.final, "a norm after the last layer; none: if norm_first");
  field("bias", bias, "whether linear layers and norms have biases");
  field("dropout", dropout, "dropout probability of residual branches and embeddings",
        {.min = 0, .max = 1});
  field("attention_dropout", attention_dropout,
        "dropout probability of attention weights; none: as dropout", {.min = 0, .max = 1});
  field("activation_dropout", activation_dropout,
        "dropout probability in the feed-forward network; none: as dropout", {.min = 0, .max = 1});
  field("attention", attention, "self-attention: a mechanism and its options");
  field("positions", positions, "position code and its options");
  field("shared_positions", shared_positions,
        "whether all layers use the position parameters of the first one");
  field("layer_pattern", layer_pattern,
        "a letter per layer, repeated: G as the other keys say, L with local_attention and "
        "local_positions; empty: all alike");
  field("local_attention", local_attention, "self-attention of layers L; none: attention");
  field("local_positions", local_positions, "position code of layers L; none: positions");
}

void BlockConfig::validate() const {
  const bool uses_heads = attention.takes("heads") && !attention.sets("heads");
  HEED_CHECK(embed >= 1 && heads >= 1 && (!uses_heads || head_size > 0 || embed % heads == 0),
             "[block] embed {} is not a multiple of heads {}: change one of them, or give "
             "head_size",
             embed, heads);
  for (const double p :
       {dropout, attention_dropout.value_or(0.0), activation_dropout.value_or(0.0)}) {
    HEED_CHECK(p >= 0.0 && p < 1.0, "[block] dropout {}: it must be at least 0 and below 1", p);
  }
  HEED_CHECK(!norm.both || norm.first,
             "[block] norm_both adds norms to those of norm_first: set norm_first too");
  HEED_CHECK(layer_pattern.find_first_not_of("GL") == std::string::npos,
             "[block] layer_pattern {}: its letters must be G or L, one per layer",
             io::in_quotes(layer_pattern));
  HEED_CHECK(!layer_pattern.empty() || (!local_attention && !local_positions),
             "[block] local_attention and local_positions have no effect without layer_pattern: "
             "say with it which layers are local");
  if (!local_positions) return;
  HEED_CHECK(positions.acts_in_attention() && local_positions->acts_in_attention(),
             "[block] positions \"{}\" and local_positions \"{}\": layers can differ only in codes "
             "that act inside attention, such as rope",
             positions.text(), local_positions->text());
}

std::vector<AttentionChoice> BlockConfig::self_attentions() const {
  std::vector<AttentionChoice> all = {attention};
  if (local_attention) all.push_back(*local_attention);
  return all;
}

BlockConfig BlockConfig::of_layer(std::int64_t layer) const {
  BlockConfig own = *this;
  if (layer_pattern.empty()) return own;
  own.layer_pattern.clear();
  const auto place = static_cast<std::size_t>(layer) % layer_pattern.size();
  if (layer_pattern[place] == 'G') return own;
  if (local_attention) own.attention = *local_attention;
  if (local_positions) own.positions = *local_positions;
  return own;
}

AttentionChoice BlockConfig::self_attention_of_layer() const {
  BlockOptions options = sizes_of(*this);
  if (positions.acts_in_attention()) options.position = positions.config();
  return attention.within(options);
}

AttentionChoice BlockConfig::cross_attention_of_layer() const {
  return cross_attention.within(sizes_of(*this));
}

void check_attention(std::string_view model, const AttentionPlace& place,
                     const AttentionChoice& attention) {
  const Traits& can = attention.traits();
  HEED_CHECK(can.form == Form::sequence && (place.cross ? can.cross : can.self),
             "[{}] {} \"{}\": a layer needs a mechanism that maps a sequence to a sequence{}; "
             "`heed list` shows what each does",
             model, place.key, attention.text(), place.cross ? " and attends to a memory" : "");
  HEED_CHECK(!place.causal || can.causal,
             "[{}] {} \"{}\": it attends to later positions; choose a mechanism that knows causal",
             model, place.key, attention.text());
}

void check_used(std::string_view model, const BlockConfig& block, const BlockConfig& defaults,
                std::span<const AttentionChoice> attentions) {
  const auto check = [&](std::string_view key, std::string_view option, bool changed) {
    if (!changed || std::ranges::any_of(attentions, [&](const AttentionChoice& attention) {
          return attention.takes(option);
        })) {
      return;
    }
    fail(
        "[{}] {} has no effect, since \"{}\" has no option \"{}\": leave it out, or choose "
        "another attention",
        model, key, attentions.front().mechanism().name, option);
  };
  check("heads", "heads", block.heads != defaults.heads);
  check("kv_heads", "kv_heads", block.kv_heads != defaults.kv_heads);
  check("head_size", "head_size", block.head_size != defaults.head_size);
  check("attention_dropout", "dropout", block.attention_dropout != defaults.attention_dropout);
}

}  // namespace heed

#include "heed/attention/variants/bahdanau.h"

namespace heed {

void BahdanauConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("hidden", hidden, "features of the score; 0: as embed", {.min = 0});
}

BahdanauAttention::BahdanauAttention(const Config& config, Generator& generator)
    : GlobalAttention({.embed = config.embed,
                       .memory_embed = config.memory_embed,
                       .score = AlignScore::additive,
                       .hidden = config.hidden},
                      generator) {}

}  // namespace heed

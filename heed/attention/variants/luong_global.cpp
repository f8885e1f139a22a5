#include "heed/attention/variants/luong_global.h"

namespace heed {

void LuongGeneralConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("combine", combine, "whether the result is tanh(W_c [context; x])");
}

LuongGeneralAttention::LuongGeneralAttention(const Config& config, Generator& generator)
    : GlobalAttention({.embed = config.embed,
                       .memory_embed = config.memory_embed,
                       .score = AlignScore::general,
                       .combine = config.combine},
                      generator) {}

void LuongLocationConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("max_length", max_length, "maximum number of positions", {.min = 1});
  field("combine", combine, "whether the result is tanh(W_c [context; x])");
}

LuongLocationAttention::LuongLocationAttention(const Config& config, Generator& generator)
    : GlobalAttention({.embed = config.embed,
                       .memory_embed = config.memory_embed,
                       .score = AlignScore::location,
                       .max_length = config.max_length,
                       .combine = config.combine},
                      generator) {}

}  // namespace heed

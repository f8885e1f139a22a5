#include "heed/attention/variants/local_m.h"

#include "heed/attention/masks.h"

namespace heed {

void LocalMConfig::fields(io::Fields& field) {
  global.fields(field);
  field("window", window, "number of positions on each side of its own that a query attends to",
        {.min = 0});
}

LocalMAttention::LocalMAttention(const Config& config, Generator& generator)
    : GlobalAttention(config.global, generator), window_(config.window) {}

void LocalMAttention::specialise(AttentionSpec& spec, const AttentionInput&,
                                 const Place& place) const {
  spec.mask = spec.mask & heed::window(window_, window_, place.corner);
}

}  // namespace heed

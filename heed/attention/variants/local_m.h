// Local attention with monotonic alignment, local-m (Luong et al. 2015): query t attends to the
// positions t - D to t + D of the memory, assuming that source and target are roughly in the same
// order. If the memory ends before t - D, no key is visible and the context is 0. local_p.h learns
// the centre of the window.
#pragma once

#include "heed/attention/variants/global.h"

namespace heed {

struct LocalMConfig {
  GlobalConfig global = {};
  std::int64_t window = 10;  // D

  void fields(io::Fields& field);
  void validate() const { global.validate(); }
};

class LocalMAttention : public GlobalAttention {
 public:
  using Config = LocalMConfig;
  explicit LocalMAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, const AttentionInput& in, const Place& place) const override;
  std::string_view name() const override { return "local_m"; }

 private:
  std::int64_t window_;
};

inline constexpr Mechanism kLocalM = mechanism<LocalMAttention>(
    "local_m",
    {.title = "Local attention, monotonic",
     .formula = "sum_j softmax_j(score(x_t, h_j)) h_j over |j - t| <= D",
     .paper = "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine "
              "Translation",
     .cost = "n D d",
     .composes = kWithMasks,
     .sample = "window=3"},
    {.decodes = true, .plain_values = true, .growth = 1.0});

}  // namespace heed

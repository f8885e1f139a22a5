// Luong's global attention (Luong et al. 2015) with the attentional vector tanh(W_c [context; x])
// and the scores "general", x^T W h, and "location", (W x)[j]. It is global attention under its
// usual names. Luong's local attention is in local_m.h and local_p.h, input feeding in
// luong_decoder.h.
#pragma once

#include "heed/attention/variants/global.h"

namespace heed {

struct LuongGeneralConfig {
  std::int64_t embed = 64;
  std::int64_t memory_embed = 0;  // 0: as embed
  bool combine = true;            // false: the result is the context

  void fields(io::Fields& field);
};

class LuongGeneralAttention : public GlobalAttention {
 public:
  using Config = LuongGeneralConfig;
  explicit LuongGeneralAttention(const Config& config, Generator& generator = default_generator());

 protected:
  std::string_view name() const override { return "luong_general"; }
};

struct LuongLocationConfig {
  std::int64_t embed = 64;
  std::int64_t memory_embed = 0;   // 0: as embed
  std::int64_t max_length = 1024;  // maximum number of positions
  bool combine = true;             // false: the result is the context

  void fields(io::Fields& field);
};

class LuongLocationAttention : public GlobalAttention {
 public:
  using Config = LuongLocationConfig;
  explicit LuongLocationAttention(const Config& config, Generator& generator = default_generator());

 protected:
  std::string_view name() const override { return "luong_location"; }
};

inline constexpr Mechanism kLuongGeneral = mechanism<LuongGeneralAttention>(
    "luong_general",
    {.title = "Luong's global attention, general score",
     .formula = "tanh(W_c [c_i; x_i]), c_i = sum_j softmax_j(x_i^T W h_j) h_j",
     .paper = "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine "
              "Translation",
     .cost = "n^2 d + n d^2",
     .composes = kWithMasks},
    {.decodes = true, .plain_values = true});

inline constexpr Mechanism kLuongLocation = mechanism<LuongLocationAttention>(
    "luong_location",
    {.title = "Luong's global attention, location score",
     .formula = "tanh(W_c [c_i; x_i]), c_i = sum_j softmax_j((W x_i)_j) h_j",
     .paper = "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine "
              "Translation",
     .cost = "n^2 d + n d^2",
     .composes = kWithMasks,
     .sample = "max_length=80"},
    {.decodes = true, .plain_values = true});

}  // namespace heed

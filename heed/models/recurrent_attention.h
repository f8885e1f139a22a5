// The recurrent attention model (Mnih et al. 2014): it never reads a whole picture, but a few
// glimpses of it, and decides itself where to look next.
//
//   l_t ~ N(tanh(W_l h_{t-1} + b_l), deviation)               where to look, h_0 = 0
//   g_t = relu(W_g [relu(W_x glimpse(l_t)); relu(W_p l_t)])   what is there, and where
//   h_t = relu(W_h [g_t; h_{t-1}])
//
// The last state scores the classes. In training, locations are samples, which learn by REINFORCE
// with a learned baseline; in evaluation mode they are the means, so that results are
// reproducible. The locations and the baseline read the states without passing gradients to them:
// glimpses and states learn from the loss of the classes alone.
#pragma once

#include <vector>

#include "heed/models/picture_sizes.h"
#include "heed/nn/linear.h"
#include "heed/ops/glimpse.h"

namespace heed {

struct RecurrentAttentionConfig {
  PictureSizes sizes = {};
  std::int64_t glimpses = 6;
  GlimpseOptions sensor = {};
  std::int64_t glimpse_hidden = 128;  // features of what a glimpse shows, and of where it is
  std::int64_t hidden = 256;          // features of a state
  double deviation = 0.2;             // of a location in training; the picture has a side of 2

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& all) { sizes.set(all); }
  /// None of the list: glimpses are not a mechanism of the registry.
  std::vector<AttentionChoice> attentions() const { return {}; }
};

/// Parameters "what" (W_x), "where" (W_p), "join" (W_g), "core" (W_h), "location" (W_l), "baseline"
/// and "scores".
class RecurrentAttention : public PictureModel {
 public:
  using Config = RecurrentAttentionConfig;
  explicit RecurrentAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  bool samples() const override { return true; }
  /// `weights` receives one entry: `cross` are the shares of the pixels in each glimpse,
  /// [B, 1, glimpses, height * width].
  Tensor operator()(const Tensor& pictures,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  std::int64_t classes() const override { return config_.sizes.classes; }
  PictureSize picture() const override { return config_.sizes.picture; }

  Linear what, where, join, core, location, baseline, scores;

 private:
  Tensor look(const Tensor& h) const;

  Config config_;
};

inline constexpr ModelKind kRecurrentAttention = model_kind<RecurrentAttention>(
    "recurrent_attention", "recognise: a few glimpses of a picture, placed by hard attention",
    Task::recognise);

}  // namespace heed

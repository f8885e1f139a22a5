// The pointer network (Vinyals et al. 2015): an encoder reads the elements of a set one after
// another, and a decoder points at them. The decoder reads the element it has pointed at before:
//
//   e_1 … e_T = encoder(x_1 … x_T),   d_i = decoder(x_{p(i-1)}, d_{i-1})
//   p(j | i)  = softmax_j(v^T tanh(W1 e_j + W2 d_i)),   e_0 and x_0 are learned
//
// Position 0 is the end when it is pointed at, and the start when it is read. Each glimpse (Bello
// et al. 2017) replaces the query d_i by what additive attention reads of e before the last one
// points.
#pragma once

#include <memory>
#include <vector>

#include "heed/attention/variants/bahdanau.h"
#include "heed/attention/variants/pointer.h"
#include "heed/models/model_kind.h"
#include "heed/nn/rnn.h"

namespace heed {

struct PointerNetworkConfig {
  std::int64_t features = 2;  // numbers of an element
  std::int64_t embed = 64;
  std::int64_t hidden = 128;
  Cell cell = Cell::lstm;
  std::int64_t glimpses = 0;
  bool each_once = false;
  double dropout = 0.0;  // of the embedded elements

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes&) {}  // the data are read with the features of the config
  /// The pointer is part of the model, not a choice.
  std::vector<AttentionChoice> attentions() const { return {}; }
};

/// Parameters "elements" (the map to embeddings), "first" [E] (x_0), "end" [H] (e_0), "encoder",
/// "decoder" (named as in PyTorch), "glimpses.0" … and "pointer".
class PointerNetwork : public PointingModel {
 public:
  using Config = PointerNetworkConfig;
  explicit PointerNetwork(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor log_probs(const Elements& in, const Tensor& pointed,
                   std::vector<LayerWeights>* weights = nullptr) const override;
  std::unique_ptr<Decoding> start(const Elements& in) const override;
  std::int64_t features() const override { return config_.features; }
  bool points_once() const override { return config_.each_once; }

  Linear elements;
  Tensor first, end;
  Dropout dropout;
  std::unique_ptr<Recurrent> encoder, decoder;
  std::vector<BahdanauAttention> glimpses;
  Pointer pointer;

 private:
  class Steps;
  /// What the encoder has read.
  struct Read {
    Tensor embedded;     // [B, 1 + T, E]: x_0, x_1, …
    Tensor memory;       // [B, 1 + T, H]: e_0, e_1, …
    Tensor lengths;      // i64 [B], with position 0
    Tensor state, cell;  // [1, B, H]
  };
  Read read(const Elements& in) const;

  Config config_;
};

inline constexpr ModelKind kPointerNetwork = model_kind<PointerNetwork>(
    "pointer_network", "point: a recurrent encoder, and a decoder that points at its inputs",
    Task::point);

}  // namespace heed

// The decoder of recurrent models that write text, such as translators: cells over the embeddings y
// of the target, attention to the encoder's states, and a readout that the output layer scores. Two
// keys choose the architecture:
//
//   feeding = context   c_t = attention(s_{t-1}),  s_t = cell([y_t; c_t], s_{t-1})    (Bahdanau)
//   feeding = none      s_t = cell(y_t, s_{t-1}),  c_t = attention(s_t)               (Luong)
//   feeding = readout   s_t = cell([y_t; r_{t-1}], s_{t-1}),  c_t = attention(s_t)    (input
//   feeding)
//
//   readout = state        r_t = s_t
//   readout = concat       r_t = [s_t; c_t; y_t]
//   readout = maxout       r_t = maxout(W [s_t; c_t; y_t])                            (Bahdanau)
//   readout = attentional  r_t = tanh(W_c [c_t; s_t])                                 (Luong)
//
// Without attention, the context of every step is the first state, with feeding = context (Cho et
// al. 2014), and there is none otherwise. If no step depends on the attention of the one before,
// whole sequences are one fused recurrence and one call of attention.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/attention/choice.h"
#include "heed/attention/variants/pointer_generator.h"
#include "heed/models/copying.h"
#include "heed/models/model.h"
#include "heed/nn/rnn.h"

namespace heed {

/// What the cells read besides the embedding.
enum class Feeding : std::uint8_t { none, context, readout };

/// What the output layer reads.
enum class Readout : std::uint8_t { state, concat, maxout, attentional };

/// The names that configs use.
constexpr std::array<io::EnumName<Feeding>, 3> enum_names(Feeding) {
  return {{{Feeding::none, "none"}, {Feeding::context, "context"}, {Feeding::readout, "readout"}}};
}
constexpr std::array<io::EnumName<Readout>, 4> enum_names(Readout) {
  return {{{Readout::state, "state"},
           {Readout::concat, "concat"},
           {Readout::maxout, "maxout"},
           {Readout::attentional, "attentional"}}};
}

struct RecurrentDecoderConfig {
  std::int64_t embed = 256;
  std::int64_t hidden = 512;
  std::int64_t memory = 512;  // features of the encoder's states
  Cell cell = Cell::gru;
  std::int64_t layers = 1;
  double dropout = 0.0;  // between layers
  double readout_dropout = 0.0;
  std::optional<AttentionChoice> attention = "bahdanau";
  Feeding feeding = Feeding::context;
  Readout readout = Readout::concat;
  bool copy = false;  // whether words of the source are copied; with pointer_generator

  /// All but what follows from other keys of a model, the memory's features and the dropout between
  /// layers, and what only translators have: copying.
  void fields(io::Fields& field);
  /// Throws unless the keys fit together.
  void validate() const;
  /// Features of c_t (0: there is none), of what cells read besides y_t, and of r_t.
  std::int64_t context_size() const;
  std::int64_t fed_size() const;
  std::int64_t readout_size() const;
  /// The attention with the sizes of the decoder.
  AttentionChoice sized_attention() const;
};

/// Parameters "cells" (named as in PyTorch), "attention" and "combine" (W or W_c).
class RecurrentDecoder : public Module {
 public:
  using Config = RecurrentDecoderConfig;
  explicit RecurrentDecoder(const Config& config, Generator& generator = default_generator());

  /// Sequences in progress; each row has its own state.
  class State {
   public:
    /// Sequence i becomes what sequence from[i] was, for beams.
    void reorder(std::span<const std::int64_t> from);

    Tensor* weights = nullptr;    // if not null, receives the weights [B, H, T, S] of each step
    CopySteps* copied = nullptr;  // if not null, receives what each step copies

   private:
    friend class RecurrentDecoder;
    explicit State(RecurrentSteps of) : cells(std::move(of)) {}

    RecurrentSteps cells;
    std::unique_ptr<DecodeState> attention;
    Tensor summary;                       // [B, H]: the context without attention
    Tensor fed;                           // r_{t-1}: [B, R]
    Tensor embedded;                      // columns of W_ih for y; undefined if W_ih is whole
    std::optional<RepeatedLinear> extra;  // and for what is fed
    std::optional<RepeatedLinear> combine;
    std::vector<Tensor> copied_weights, coverages;  // of the steps of a call, [B, 1, S]
  };

  void visit(ParameterVisitor& visitor) override;
  /// Teacher forcing: embeddings [B, T, E] -> readouts [B, T, R]. `weights`, if not null, receives
  /// the attention weights [B, H, T, S], and `copied` what a decoder that copies does.
  Tensor operator()(const Tensor& y, const Memory& memory, Tensor* weights = nullptr,
                    CopySteps* copied = nullptr) const;
  /// Decoding step by step; differentiable.
  State start(const Memory& memory, CacheForm cache = CacheForm::f32) const;
  /// Bytes that decoding keeps for one sequence with a memory of so many positions.
  std::int64_t cache_bytes(std::int64_t memory, CacheForm cache) const;
  /// Whether it copies words of the source.
  bool copies() const { return config_.copy; }
  /// The next embeddings [B, T, E] -> readouts [B, T, R].
  Tensor step(const Tensor& y, State& state) const;

  std::unique_ptr<Recurrent> cells;
  std::unique_ptr<AttentionLayer> attention;  // or null
  std::optional<Linear> combine;
  Dropout dropout;

 private:
  bool goes_by_steps() const;
  const PointerGenerator& pointer() const;
  Tensor attend(const Tensor& query, State& state) const;
  Tensor input_gates(const Tensor& y, const State& state) const;
  Tensor fed_gates(const Tensor& gates, const Tensor& y, const Tensor& fed,
                   const State& state) const;
  Tensor read_out(const Tensor& h, const Tensor& context, const Tensor& y,
                  const RepeatedLinear* repeated = nullptr) const;

  Config config_;
};

/// Starts to decode the tokens of a model with this decoder; `embed` gives the embeddings of its
/// tokens, [B, T] -> [B, T, E]. Both must outlive the result.
std::unique_ptr<Decoding> start_decoding(const RecurrentDecoder& decoder,
                                         std::function<Tensor(const Tensor& ids)> embed,
                                         const Memory& memory, CacheForm cache);

}  // namespace heed

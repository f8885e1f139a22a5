// A neural Turing machine (Graves, Wayne and Danihelka 2014) as a sequence layer: at every position
// a controller reads x and what was read at the position before, and controls heads that write to a
// memory and read from it (ntm_memory.h). It knows earlier positions only through this memory, so
// it is always causal, and its state does not grow with the sequence.
#pragma once

#include <array>
#include <vector>

#include "heed/attention/mechanism.h"
#include "heed/nn/linear.h"
#include "heed/nn/rnn.h"

namespace heed {

/// The network that controls the heads.
enum class NtmController : std::uint8_t { lstm, gru, feed_forward };

/// The names that configs use.
constexpr std::array<io::EnumName<NtmController>, 3> enum_names(NtmController) {
  return {{{NtmController::lstm, "lstm"},
           {NtmController::gru, "gru"},
           {NtmController::feed_forward, "feed_forward"}}};
}

struct NtmConfig {
  std::int64_t embed = 64;
  std::int64_t slots = 64;       // N
  std::int64_t width = 32;       // M, numbers in a slot
  std::int64_t read_heads = 1;   // R
  std::int64_t write_heads = 1;  // W
  std::int64_t shifts = 1;       // S: heads move by -S to S slots
  NtmController controller = NtmController::lstm;
  std::int64_t hidden = 0;  // C, features of the controller; 0: as embed

  void fields(io::Fields& field);
  void validate() const;
};

/// Where the weights of heads over the slots go: [B, heads, T, N], without gradient; null: nowhere.
struct NtmWeights {
  Tensor* read = nullptr;
  Tensor* write = nullptr;
};

/// Parameters "controller", "heads" [(R + W)(M + 2 S + 4) + 2 W M, C], "out_proj" [E, C + R M]; and
/// the initial state of a sequence: "memory" [N, M], "places" [R + W, N] (their softmax gives the
/// weights) and "reading" [R M].
class Ntm : public AttentionLayer {
 public:
  using Config = NtmConfig;
  explicit Ntm(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, T, E].
  Tensor operator()(const AttentionInput& in) const override;
  /// The same for x [B, T, E], with the weights of all heads.
  Tensor run(const Tensor& x, const NtmWeights& weights) const;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;

  std::unique_ptr<Recurrent> recurrent;  // the controller, or null
  std::unique_ptr<Linear> feed_forward;  // the controller, or null
  Linear heads, out_proj;
  Tensor memory, places, reading;

 private:
  /// The state that is passed from one position to the next.
  struct Moment {
    Tensor memory;       // [B, N, M]
    Tensor weights;      // [B, R + W, N], read heads first
    Tensor reading;      // [B, R M]
    Tensor state, cell;  // [1, B, C], of a recurrent controller
  };
  class State;

  void check(const AttentionInput& in) const;
  Moment first(std::int64_t B) const;
  Tensor control(const Tensor& x, Moment& now) const;
  Tensor advance(const Tensor& x, Moment& now) const;
  Tensor run(const Tensor& x, Moment& now, const NtmWeights& weights) const;

  Config config_;
};

inline constexpr Mechanism kNtm = mechanism<Ntm>(
    "ntm",
    {.title = "Memory addressing (neural Turing machine)",
     .formula = "w = sharpen(shift(g softmax(beta cos(k, M)) + (1 - g) w', s), gamma), r = w M",
     .paper = "Graves, Wayne and Danihelka 2014, Neural Turing Machines",
     .cost = "n (N M + d^2), N slots of M numbers, one position after another",
     .composes = "lengths, decoding in constant time and memory; always causal",
     .sample = "slots=7 width=5 read_heads=2 write_heads=2 hidden=12"},
    {.form = Form::memory,
     .cross = false,
     .mask = false,
     .decodes = true,
     .fused = false,
     .growth = 1.0});

}  // namespace heed

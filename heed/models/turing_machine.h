// The neural Turing machine (Graves, Wayne and Danihelka 2014) as a model of algorithmic tasks: the
// layer `ntm` reads a vector of bits in each step, and its output has the scores of the bits that
// are written. The controller is an LSTM, a GRU or a feed-forward layer.
#pragma once

#include <vector>

#include "heed/attention/variants/ntm.h"
#include "heed/models/model_kind.h"

namespace heed {

struct TuringMachineConfig {
  std::int64_t inputs = 0;   // bits of a vector that is read
  std::int64_t outputs = 0;  // bits of a vector that is written
  NtmConfig machine = {.slots = 128,
                       .width = 20,
                       .controller = NtmController::feed_forward,
                       .hidden = 100};  // its embed follows from the others

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// The memory is part of the model, not a choice.
  std::vector<AttentionChoice> attentions() const { return {}; }
  /// The config of the layer, whose input and output have the same size.
  NtmConfig layer() const;
};

/// Parameters "machine.…", those of the layer.
class TuringMachine : public BitModel {
 public:
  using Config = TuringMachineConfig;
  explicit TuringMachine(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const Tensor& x, std::vector<LayerWeights>* weights = nullptr) const override;
  std::int64_t inputs() const override { return config_.inputs; }
  std::int64_t outputs() const override { return config_.outputs; }

  Ntm machine;

 private:
  Config config_;
};

inline constexpr ModelKind kTuringMachine = model_kind<TuringMachine>(
    "turing_machine", "copy: a neural Turing machine for algorithmic tasks", Task::copy);

}  // namespace heed

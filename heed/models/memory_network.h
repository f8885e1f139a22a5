// The end-to-end memory network (Sukhbaatar et al. 2015). The sentences x_i of a story are a memory
// that a question q reads several times (hops) before it is answered:
//
//   m_i = sum_j l_j * A x_ij + T_A(age i),   c_i = sum_j l_j * C x_ij + T_C(age i)
//   u_1 = sum_j l_j * B q_j,   p_i = softmax_i(u_k . m_i),   u_{k+1} = u_k + sum_i p_i c_i
//   answer = softmax(W u_{K+1})
//
// l are weights of the position of a word in its sentence of J words:
// l_jk = 2 ((1 - j/J) - (k/d) (1 - 2j/J)) for feature k of d; without position encoding they are 1.
// This is twice the formula of the paper, as in public programs of this model: the mean is 1. With
// half of it, attention stays flatter, and four of four runs on bAbI did not learn task 16.
//
// The age of a sentence is the number of sentences from it to the question.
#pragma once

#include <optional>
#include <vector>

#include "heed/models/model_kind.h"
#include "heed/nn/embedding.h"
#include "heed/nn/linear.h"

namespace heed {

/// Which tables of embeddings are one.
enum class Tying : std::uint8_t {
  adjacent,    // A of a hop is C of the one before, B is the first A, W the last C
  layer_wise,  // all hops have the same A and C, and u_{k+1} = H u_k + sum_i p_i c_i
};

/// The names that configs use.
constexpr std::array<io::EnumName<Tying>, 2> enum_names(Tying) {
  return {{{Tying::adjacent, "adjacent"}, {Tying::layer_wise, "layer_wise"}}};
}

struct MemoryNetworkConfig {
  std::int64_t vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  std::int64_t embed = 50;
  std::int64_t hops = 3;
  std::int64_t sentences = 50;
  Tying tying = Tying::adjacent;
  bool position_encoding = true;
  std::int64_t linear_start = 0;  // epochs
  double noise = 0.0;             // in the ages of sentences, in training
  double init_deviation = 0.1;

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// The attention is part of the model, not a choice.
  std::vector<AttentionChoice> attentions() const { return {}; }
};

/// Parameters "words.0", "words.1", … (tables of embeddings: A and C of the first hop, then C of
/// each later one) and "ages.0", "ages.1", … (T of the same). Layer-wise tying has two of each,
/// "question" (B), "between" (H) and "answers" (W).
class MemoryNetwork : public AnsweringModel {
 public:
  using Config = MemoryNetworkConfig;
  explicit MemoryNetwork(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const Stories& in, std::vector<LayerWeights>* weights = nullptr) const override;
  /// In training, the softmax over the memory is left out in the first `linear_start` epochs, which
  /// keeps the network out of poor minima.
  void begin_epoch(std::int64_t epoch) override { epoch_ = epoch; }
  std::int64_t vocabulary() const override { return config_.vocabulary; }
  std::int64_t max_sentences() const override { return config_.sentences; }
  double noise() const override { return config_.noise; }

  std::vector<Embedding> words, ages;
  std::optional<Embedding> question;
  std::optional<Linear> between, answers;

 private:
  Tensor position_weights(const Tensor& ids, DType dtype) const;
  Tensor sums_of(const Embedding& table, const Tensor& ids, const Tensor& positions) const;

  Config config_;
  std::int64_t epoch_ = 0;
};

inline constexpr ModelKind kMemoryNetwork = model_kind<MemoryNetwork>(
    "memory_network", "answer: a memory of sentences that a question reads in several hops",
    Task::answer);

}  // namespace heed

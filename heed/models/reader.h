// Readers that find the word of a passage which fills the blank of a question. Recurrent layers of
// both directions read the passage, h_1 … h_T, and the question, q_1 … q_S. Two ways to compare
// them:
//
//   sum                        p_i = softmax_i(h_i . q), q the last states of both directions: the
//                              attention sum reader (Kadlec et al. 2016)
//   attention_over_attention   p_i = sum_j alpha_ij beta_j: the reader of Cui et al. (2017), see
//                              attention/variants/attention_over_attention.h
//
// The probability of a word is the sum of p_i over its occurrences.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/attention/variants/attention_over_attention.h"
#include "heed/models/model_kind.h"
#include "heed/nn/dropout.h"
#include "heed/nn/embedding.h"
#include "heed/nn/rnn.h"

namespace heed {

enum class ReaderAttention : std::uint8_t { over_attention, sum };

/// The names that configs use.
constexpr std::array<io::EnumName<ReaderAttention>, 2> enum_names(ReaderAttention) {
  return {{{ReaderAttention::over_attention, "attention_over_attention"},
           {ReaderAttention::sum, "sum"}}};
}

struct ReaderConfig {
  std::int64_t vocabulary = 0;
  std::optional<std::int64_t> padding = {};
  std::int64_t embed = 128;
  std::int64_t hidden = 128;  // of each direction
  Cell cell = Cell::gru;
  ReaderAttention attention = ReaderAttention::over_attention;
  double dropout = 0.1;  // of embedded words

  void fields(io::Fields& field);
  void validate() const;
  void set_sizes(const ModelSizes& sizes);
  /// The attention is part of the model: both forms have exact gradients.
  std::vector<AttentionChoice> attentions() const { return {}; }
};

/// Parameters "words" (embeddings of passage and question), "passage" and "question" (recurrent
/// layers, named as in PyTorch).
class Reader : public ReadingModel {
 public:
  using Config = ReaderConfig;
  explicit Reader(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  ModelChoice choice() const override;
  Tensor operator()(const Passages& in,
                    std::vector<LayerWeights>* weights = nullptr) const override;
  std::int64_t vocabulary() const override { return config_.vocabulary; }

  Embedding words;
  Dropout dropout;
  std::unique_ptr<Recurrent> passage, question;

 private:
  Config config_;
  AttentionOverAttention over_attention_;
};

inline constexpr ModelKind kReader = model_kind<Reader>(
    "reader", "read: recurrent layers, and attention from a question to the words of its passage",
    Task::read);

}  // namespace heed

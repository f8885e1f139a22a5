#include "heed/study/sequence_layer.h"

#include "heed/attention/registry.h"
#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/io/config.h"
#include "heed/nn/conv.h"
#include "heed/nn/rnn.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

std::vector<Tensor> SequenceLayer::on_positions(std::span<const Tensor> x) const {
  if (x.empty()) return {};
  return split((*this)(concat(x, 1)), static_cast<std::int64_t>(x.size()), 1);  // [B, 1, E] each
}

namespace {

using Options = std::span<const std::string>;

struct ConvolutionConfig {
  std::int64_t embed = 64;
  std::int64_t kernel = 3;
  std::int64_t dilation = 1;

  void fields(io::Fields& field) {
    field("embed", embed, "features of x and of the result", {.min = 1});
    field("kernel", kernel, "kernel size: a position and those before it", {.min = 1});
    field("dilation", dilation, "distance between the positions of a kernel", {.min = 1});
  }
};

class Convolution : public SequenceLayer {
 public:
  using Config = ConvolutionConfig;
  Convolution(const Config& config, Generator& generator)
      : conv_({.in = config.embed,
               .out = config.embed,
               .kernel = config.kernel,
               .dilation = config.dilation},
              generator),
        config_(config) {}

  void visit(ParameterVisitor& visitor) override { conv_.visit(visitor); }
  std::string_view op() const override { return "conv1d"; }
  Tensor operator()(const Tensor& x) const override {
    HEED_CHECK(x.rank() == 3 && x.size(2) == config_.embed, "[conv1d] x {}: it must be [B, T, {}]",
               to_string(x.shape()), config_.embed);
    if (x.size(1) == 0) return x;
    const std::int64_t before = (config_.kernel - 1) * config_.dilation;
    const Tensor nothing = zeros({x.size(0), config_.embed, before}, x.dtype());  // [B, E, before]
    // This is the copy that the convolution would make of the transposed x.
    const Tensor padded = concat({nothing, transpose(x)}, 2);  // [B, E, before + T]
    return contiguous(transpose(conv_(padded)));               // [B, T, E]
  }

 private:
  Conv1d conv_;
  Config config_;
};

struct RecurrenceConfig {
  std::int64_t embed = 64;

  void fields(io::Fields& field) {
    field("embed", embed, "features of x and of the result", {.min = 1});
  }
};

template <typename Rnn>
class Recurrence : public SequenceLayer {
 public:
  using Config = RecurrenceConfig;
  Recurrence(const Config& config, Generator& generator)
      : rnn_({.input = config.embed, .hidden = config.embed}, generator) {}

  void visit(ParameterVisitor& visitor) override { rnn_.visit(visitor); }
  std::string_view op() const override { return std::is_same_v<Rnn, Gru> ? "gru" : "lstm"; }
  Tensor operator()(const Tensor& x) const override { return rnn_(x).output; }  // [B, T, E]
  std::vector<Tensor> on_positions(std::span<const Tensor> x) const override {
    std::vector<Tensor> y;
    RecurrentStart start;
    for (const Tensor& position : x) {
      RecurrentResult step = rnn_(position, start);
      y.push_back(step.output);  // [B, 1, E]
      start = {.state = step.state, .cell = step.cell};
    }
    return y;
  }

 private:
  Rnn rnn_;
};

class SelfAttention : public SequenceLayer {
 public:
  SelfAttention(const Mechanism& mechanism, Options options, Generator& generator)
      : layer_(make_attention(mechanism.name, options, generator)),
        fused_(mechanism.traits.fused) {}

  void visit(ParameterVisitor& visitor) override { layer_->visit(visitor); }
  std::string_view op() const override { return fused_ ? "attention" : ""; }
  Tensor operator()(const Tensor& x) const override { return (*layer_)({.x = x}); }  // [B, T, E]

 private:
  std::unique_ptr<AttentionLayer> layer_;
  bool fused_;
};

template <typename Layer>
std::unique_ptr<SequenceLayer> make(Options options, Generator& generator) {
  typename Layer::Config config;
  io::set_fields(config, options);
  return std::make_unique<Layer>(config, generator);
}

struct Entry {
  std::string_view name;
  std::unique_ptr<SequenceLayer> (*make)(Options options, Generator& generator);
};
constexpr Entry kOthers[] = {{"conv1d", make<Convolution>},
                             {"gru", make<Recurrence<Gru>>},
                             {"lstm", make<Recurrence<Lstm>>}};

bool fits(const Mechanism& mechanism) {
  return mechanism.traits.form == Form::sequence && mechanism.traits.self;
}

}  // namespace

std::unique_ptr<SequenceLayer> make_sequence_layer(std::string_view name, Options options,
                                                   Generator& generator) {
  std::vector<std::string_view> names;
  for (const Entry& entry : kOthers) {
    if (entry.name == name) return entry.make(options, generator);
    names.push_back(entry.name);
  }
  for (const Mechanism& mechanism : mechanisms()) {
    if (!fits(mechanism)) continue;
    if (mechanism.name == name) {
      return std::make_unique<SelfAttention>(mechanism, options, generator);
    }
    names.push_back(mechanism.name);
  }
  const std::string_view near = nearest(name, names);
  throw Error(
      fmt::format("[sequence_layer] {} does not turn a sequence into one of its own length: {}",
                  io::in_quotes(name),
                  near.empty() ? "conv1d, gru, lstm and the self-attentions of `heed list` do"
                               : fmt::format("did you mean \"{}\"?", near)));
}

std::unique_ptr<SequenceLayer> make_sequence_layer(std::string_view name,
                                                   std::initializer_list<std::string> options,
                                                   Generator& generator) {
  return make_sequence_layer(name, std::span(options.begin(), options.size()), generator);
}

}  // namespace heed

#include "heed/models/convolutional_translator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/block.h"
#include "heed/models/stack_decoding.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// Keeps the variance of a sum of two.
const double kHalf = std::sqrt(0.5);

const ConvolutionalTranslatorConfig& checked(const ConvolutionalTranslatorConfig& config) {
  config.validate();
  HEED_CHECK(config.source_vocabulary > 0 && config.target_vocabulary > 0,
             "[convolutional] vocabularies of {} and {}: give the sizes of both",
             config.source_vocabulary, config.target_vocabulary);
  return config;
}

TextEmbeddingConfig embedding_of(const ConvolutionalTranslatorConfig& config,
                                 std::int64_t vocabulary) {
  return {.vocabulary = vocabulary,
          .embed = config.embed,
          .padding = config.padding,
          .scaled = false,
          .dropout = config.dropout,
          .position = config.positions.config()};
}

OutputLayer output_of(const ConvolutionalTranslatorConfig& config, const Weight& embeddings) {
  const Tensor bias =
      config.output_bias ? zeros({config.target_vocabulary}).requires_grad() : Tensor();  // [V]
  if (!has_own_output(config.tied)) return OutputLayer(embeddings, bias);
  return OutputLayer(Weight(empty({config.target_vocabulary, config.embed}).requires_grad()), bias);
}

// As in fairseq: embeddings and positions with a standard deviation of 0.1, and maps that keep the
// variance of their inputs, of which dropout leaves a share and a gate a quarter.
void initialise(ConvolutionalTranslator& model, const ConvolutionalTranslatorConfig& config,
                Generator& generator) {
  const double kept = 1.0 - config.dropout;
  for (NamedTensor& parameter : model.named_parameters()) {
    const std::string& name = parameter.name;
    const bool is_embedding = name.starts_with("source.") || name.starts_with("target.");
    if (parameter.tensor.rank() < 2) {
      init::zeros(parameter.tensor);
    } else if (is_embedding) {
      init::normal(parameter.tensor, 0.1, generator);
    } else {
      const double gain = name.find(".convs.") != name.npos ? 4.0 : 1.0;
      const auto in = static_cast<double>(parameter.tensor.size(1));
      init::normal(parameter.tensor, std::sqrt(gain * kept / in), generator);
    }
  }
  if (!config.padding) return;
  for (TextEmbedding* const side : {&model.source, &model.target}) {
    Tensor row = view::slice(side->tokens.weight.data, 0, *config.padding, *config.padding + 1);
    init::zeros(row);  // [1, E]
  }
}

// 1 for positions before the end of their row, else 0: [B, S, 1]; undefined without lengths.
Tensor inside(const Tensor& lengths, std::int64_t S, DType dtype) {
  if (!lengths.defined()) return {};
  const std::vector<std::int64_t> ends = lengths.to_vector<std::int64_t>();
  Tensor mask = zeros({std::ssize(ends), S, 1}, DType::f64);
  for (std::int64_t b = 0; b < std::ssize(ends); ++b) {
    std::fill_n(mask.mutable_data<double>() + b * S, ends[static_cast<std::size_t>(b)], 1.0);
  }
  return cast_data(mask, dtype);
}

Tensor masked(const Tensor& x, const Tensor& mask) { return mask.defined() ? x * mask : x; }

// Sequences in progress: the memory, and the last inputs of each layer.
class ConvolutionalDecoding : public Decoding {
 public:
  ConvolutionalDecoding(const ConvolutionalTranslator& model, const Memory& memory)
      : model_(model),
        memory_(memory),
        windows_(model.no_windows(memory.states.size(0), memory.states.dtype())) {}

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    const Tensor e = model_.target(ids, next_);  // [B, T, E]
    next_ += ids.size(1);
    return model_.advance(e, memory_, windows_, to_);  // [B, T, E]
  }
  void reorder(std::span<const std::int64_t> from) override {
    const NoGrad no_grad;
    memory_.reorder(from);
    const Tensor ids = from_values(from, {std::ssize(from)});
    for (Tensor& window : windows_) window = index_select(window, 0, ids);
  }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    to_ = what == ObservedWeights::none ? nullptr : &to;
  }

 private:
  const ConvolutionalTranslator& model_;
  Memory memory_;
  ConvolutionalTranslator::Windows windows_;
  std::int64_t next_ = 0;  // the position of the next token
  std::vector<LayerWeights>* to_ = nullptr;
};

}  // namespace

// ---- config -------------------------------------------------------------------------------------

void ConvolutionalTranslatorConfig::fields(io::Fields& field) {
  field("source_vocabulary", source_vocabulary,
        "tokens of the source; 0: the size of its vocabulary", {.min = 0});
  field("target_vocabulary", target_vocabulary,
        "tokens of the target; 0: the size of its vocabulary", {.min = 0});
  field("padding", padding, "the token that fills rows; none: as in the vocabulary");
  field("embed", embed, "features of an embedding", {.min = 1, .max = kMaxFeatures});
  field("hidden", hidden, "features of a position between convolutions",
        {.min = 1, .max = kMaxFeatures});
  field("encoder_layers", encoder_layers, "convolutions of the encoder",
        {.min = 0, .max = kMaxLayers});
  field("decoder_layers", decoder_layers, "convolutions of the decoder",
        {.min = 1, .max = kMaxLayers});
  field("kernel", kernel, "positions that a convolution reads; an odd number",
        {.min = 1, .max = kMaxLayers});
  field("positions", positions, "position code of the embeddings, and its options");
  field("dropout", dropout,
        "dropout probability of embeddings, inputs of convolutions and the output's input",
        {.min = 0, .max = 1});
  field("shared_attention", shared_attention,
        "whether the maps around attention are the same in all layers");
  field("tied", tied, kTiedHelp);
  field("output_bias", output_bias, "whether the scores of the output have a bias");
}

void ConvolutionalTranslatorConfig::validate() const {
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[convolutional] dropout {}: it must be at least 0 and below 1", dropout);
  HEED_CHECK(kernel % 2 == 1,
             "[convolutional] kernel {}: it must be odd, so that a position of the source is in "
             "the middle of its window",
             kernel);
  HEED_CHECK(!positions.acts_in_attention(),
             "[convolutional] positions \"{}\" act inside self-attention, which the model has "
             "not: use \"learned\" or \"sinusoidal\"",
             positions.text());
  check_tied("convolutional", tied, {source_vocabulary, target_vocabulary});
}

void ConvolutionalTranslatorConfig::set_sizes(const ModelSizes& sizes) {
  source_vocabulary = sizes.source_vocabulary;
  target_vocabulary = sizes.target_vocabulary;
  if (!padding) padding = sizes.padding;
}

// ---- the stack ----------------------------------------------------------------------------------

ConvolutionStack::ConvolutionStack(const Sizes& sizes, double p, Generator& generator)
    : expand({.in = sizes.embed, .out = sizes.hidden}, generator),
      reduce({.in = sizes.hidden, .out = sizes.embed}, generator),
      dropout({.p = p}),
      kernel_(sizes.kernel) {
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    convs.emplace_back(LinearConfig{.in = sizes.kernel * sizes.hidden, .out = 2 * sizes.hidden},
                       generator);
  }
}

void ConvolutionStack::visit(ParameterVisitor& visitor) {
  visitor("expand", expand);
  visitor("reduce", reduce);
  visitor("convs", convs);
  visitor("dropout", dropout);
}

// The windows of all positions are rows of one product.
Tensor ConvolutionStack::convolve(std::size_t layer, const Tensor& x) const {
  const std::int64_t T = x.size(1) - kernel_ + 1;
  const Tensor kept = dropout(x);  // [B, T + kernel - 1, H]
  std::vector<Tensor> shifted;
  for (std::int64_t k = 0; k < kernel_; ++k) shifted.push_back(slice(kept, 1, k, k + T));
  const auto [value, gate] = split<2>(convs[layer](concat(shifted, -1)), -1);  // [B, T, H]
  return value * sigmoid(gate);                                                // [B, T, H]
}

Tensor ConvolutionStack::blank(const Tensor& x, std::int64_t count) const {
  return zeros({x.size(0), count, x.size(2)}, x.dtype());
}

// ---- the model ----------------------------------------------------------------------------------

ConvolutionalTranslator::ConvolutionalTranslator(const Config& config, Generator& generator)
    : source(embedding_of(checked(config), config.source_vocabulary), generator),
      target(embedding_of(config, config.target_vocabulary), generator),
      encoder({config.embed, config.hidden, config.encoder_layers, config.kernel}, config.dropout,
              generator),
      decoder({config.embed, config.hidden, config.decoder_layers, config.kernel}, config.dropout,
              generator),
      output(output_of(config, target.tokens.weight)),
      config_(config) {
  const std::int64_t maps = config.shared_attention ? 1 : config.decoder_layers;
  for (std::int64_t layer = 0; layer < maps; ++layer) {
    query.emplace_back(LinearConfig{.in = config.hidden, .out = config.embed}, generator);
    context.emplace_back(LinearConfig{.in = config.embed, .out = config.hidden}, generator);
  }
  if (shares_embeddings(config.tied)) source.tokens.weight = target.tokens.weight;
  initialise(*this, config, generator);
}

ModelChoice ConvolutionalTranslator::choice() const {
  return choice_of<ConvolutionalTranslator>(kConvolutionalTranslator, config_);
}

void ConvolutionalTranslator::visit(ParameterVisitor& visitor) {
  visitor("source", source);
  visitor("target", target);
  visitor("encoder", encoder);
  visitor("decoder", decoder);
  visitor("query", query);
  visitor("context", context);
  visitor("output", output);
}

// After the end of a row is 0 in every layer, so that its positions do not depend on the padding.
Memory ConvolutionalTranslator::encode(const Tensor& ids, const Tensor& lengths,
                                       std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->clear();
  const Tensor e = source(ids);  // [B, S, E]
  const Tensor mask = inside(lengths, ids.size(1), e.dtype());
  Tensor h = masked(encoder.expand(e), mask);  // [B, S, H]
  const Tensor edge = encoder.blank(h, encoder.kernel() / 2);
  for (std::size_t layer = 0; layer < encoder.convs.size(); ++layer) {
    const Tensor y = encoder.convolve(layer, concat({edge, h, edge}, 1));  // [B, S, H]
    h = masked((y + h) * kHalf, mask);
  }
  const Tensor z = encoder.reduce(h);  // [B, S, E]
  return {.states = z, .lengths = lengths, .values = (z + e) * kHalf};
}

Tensor ConvolutionalTranslator::advance(const Tensor& e, const Memory& memory, Windows& windows,
                                        std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->assign(decoder.convs.size(), {});
  const Tensor keys = unsqueeze(memory.states, 1), values = unsqueeze(memory.values, 1);
  AttentionSpec spec{.score = dot_score()};
  if (memory.lengths.defined()) spec.mask = key_lengths(memory.lengths);
  Tensor h = decoder.expand(e);  // [B, T, H]
  for (std::size_t layer = 0; layer < decoder.convs.size(); ++layer) {
    const std::size_t map = config_.shared_attention ? 0 : layer;
    const Tensor in = concat({windows[layer], h}, 1);  // [B, kernel - 1 + T, H]
    windows[layer] = slice(in, 1, in.size(1) - decoder.kernel() + 1, in.size(1));
    const Tensor y = decoder.convolve(layer, in);  // [B, T, H]
    const Tensor q = (query[map](y) + e) * kHalf;  // [B, T, E]
    AttentionSpec own = spec;
    if (weights != nullptr) own.observers.push_back(observe_weights((*weights)[layer].cross));
    const Tensor c = squeeze(attention(unsqueeze(q, 1), keys, values, own), 1);  // [B, T, E]
    h = ((y + context[map](c)) * kHalf + h) * kHalf;                             // [B, T, H]
  }
  return decoder.dropout(decoder.reduce(h));  // [B, T, E]
}

ConvolutionalTranslator::Windows ConvolutionalTranslator::no_windows(std::int64_t batch,
                                                                     DType dtype) const {
  const Tensor blank = zeros({batch, config_.kernel - 1, config_.hidden}, dtype);
  return Windows(decoder.convs.size(), blank);
}

Tensor ConvolutionalTranslator::decode(const Tensor& ids, const Memory& memory,
                                       std::vector<LayerWeights>* weights) const {
  Windows windows = no_windows(ids.size(0), memory.states.dtype());
  return advance(target(ids), memory, windows, weights);
}

std::int64_t ConvolutionalTranslator::cache_bytes(std::int64_t sources, std::int64_t /*targets*/,
                                                  CacheForm /*cache*/) const {
  constexpr std::int64_t kBytes = sizeof(float);
  const std::int64_t windows = config_.decoder_layers * (config_.kernel - 1) * config_.hidden;
  return kBytes * (2 * sources * config_.embed + windows);
}

std::unique_ptr<Decoding> ConvolutionalTranslator::start(const Memory& memory, Stepping stepping,
                                                         CacheForm /*cache*/) const {
  if (stepping == Stepping::replayed) return decode_by_replay(*this, memory);
  return std::make_unique<ConvolutionalDecoding>(*this, memory);
}

}  // namespace heed

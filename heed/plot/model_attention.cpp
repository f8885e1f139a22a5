#include "heed/plot/model_attention.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/classify.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/embed.h"
#include "heed/generation/examine.h"
#include "heed/generation/fill.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/view.h"
#include "heed/text/unicode.h"

namespace heed::plot {
namespace {

std::vector<std::string> labels_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  std::vector<std::string> labels;
  labels.reserve(ids.size());
  for (const std::int32_t id : ids) labels.push_back(token_label(tokenizer, id));
  return labels;
}

// Weights [1, H, T, Tk] without the batch axis. Weights of another rank are returned unchanged;
// check_view() reports them.
Tensor of_one(const Tensor& weights) {
  if (!weights.defined() || weights.rank() != 4) return weights;
  return contiguous_copy(view::select(weights, 0, 0));  // [H, T, Tk]
}

std::vector<Tensor> layers_of(const std::vector<LayerWeights>& layers,
                              Tensor LayerWeights::*member) {
  std::vector<Tensor> all;
  all.reserve(layers.size());
  for (const LayerWeights& layer : layers) all.push_back(of_one(layer.*member));
  return all;
}

std::vector<std::int32_t> tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids = tokenizer.encode(text);
  HEED_CHECK(!ids.empty(), "[see] the sentence has no tokens: give one with words");
  return ids;
}

// The attention of a model without decoder.
AttentionView view_of(const Tokenizer& tokenizer, std::string_view text, const ReadText& read,
                      const std::vector<LayerWeights>& weights) {
  AttentionView view{.text = unicode::make_valid(text), .parts = {}};
  AttentionPart& part = view.parts.emplace_back();
  part.kind = AttentionKind::encoder;
  part.columns = labels_of(tokenizer, read.ids);
  part.rows = part.columns;
  part.layers = layers_of(weights, &LayerWeights::self);
  return view;
}

}  // namespace

std::string token_label(const Tokenizer& tokenizer, std::int32_t id) {
  const SpecialTokens special = tokenizer.special();
  if (id == special.end) return "</s>";
  if (id == special.begin) return "<s>";
  return unicode::make_valid(tokenizer.piece(id));
}

AttentionView attention_of(const Translator& translator, std::string_view text,
                           const Hypothesis& hypothesis) {
  const std::vector<std::int32_t>& target = hypothesis.tokens;
  const Tokenizer& writer = *translator.target();
  const std::vector<std::int32_t> source = translator.read(text);
  HEED_CHECK(!translator.is_empty(source), "[see] the sentence has no tokens: give one with words");
  const bool has_all = hypothesis.weights && !hypothesis.weights->encoder.empty();
  const ModelWeights weights =
      has_all ? *hypothesis.weights
              : examine_weights(translator, {.source = source, .tokens = target});

  const std::vector<std::string> read = labels_of(*translator.source(), source);
  const AlignmentEdges edges = edges_of(translator, hypothesis);
  std::vector<std::string> written = labels_of(writer, target), at_hand = written;
  if (edges.target_after > 0) {
    written.push_back("</s>");
  } else {
    at_hand.pop_back();  // a result of the maximum length
  }
  const std::int32_t start = translator.frame().start;
  at_hand.insert(at_hand.begin(),
                 start == writer.special().begin ? "<s>" : token_label(writer, start));
  AttentionView view{.text = unicode::make_valid(text),
                     .result = translator.text_of(target),
                     .parts = {},
                     .alignment = source_attention(weights),
                     .edges = edges};
  view.parts.push_back({.kind = AttentionKind::encoder,
                        .rows = read,
                        .columns = read,
                        .layers = layers_of(weights.encoder, &LayerWeights::self)});
  view.parts.push_back({.kind = AttentionKind::decoder,
                        .rows = written,
                        .columns = at_hand,
                        .layers = layers_of(weights.decoder, &LayerWeights::self)});
  view.parts.push_back({.kind = AttentionKind::cross,
                        .rows = written,
                        .columns = read,
                        .layers = layers_of(weights.decoder, &LayerWeights::cross)});
  return view;
}

AttentionView attention_of(const LoadedModel& model, std::string_view text,
                           const std::optional<SearchOptions>& search) {
  if (const auto* const translator = std::get_if<Translator>(&model)) {
    const std::string sentence(text);
    const auto found = translator->translate(
        {&sentence, 1},
        {.search = search.value_or(translator->format().search), .observed = ObservedWeights::all});
    HEED_CHECK(!found[0].empty(), "[see] the search found no translation: give one with --target");
    return attention_of(*translator, text, found[0][0].hypothesis);
  }
  return std::visit(
      [&](const auto& loaded) -> AttentionView {
        if constexpr (std::is_same_v<std::decay_t<decltype(loaded)>, Translator>) {
          HEED_ASSERT(false);  // translated above
        } else {
          return attention_of(loaded, text);
        }
      },
      model);
}

AttentionView attention_of(const TextGenerator& generator, std::string_view text) {
  const NoGrad no_grad;
  const std::vector<std::int32_t> ids = tokens_of(*generator.tokenizer, text);
  std::vector<LayerWeights> weights;
  (*generator.model)(ids_of(ids, 1), &weights);
  AttentionView view{.text = unicode::make_valid(text), .parts = {}};
  AttentionPart& part = view.parts.emplace_back();
  part.kind = AttentionKind::decoder;
  part.columns = labels_of(*generator.tokenizer, ids);
  part.rows = {part.columns.begin() + 1, part.columns.end()};
  part.rows.push_back("…");  // the next token
  part.layers = layers_of(weights, &LayerWeights::self);
  return view;
}

AttentionView attention_of(const TextClassifier& classifier, std::string_view text) {
  const NoGrad no_grad;
  tokens_of(*classifier.tokenizer, text);  // throws if there are no tokens
  const ReadText read = read_text(classifier, {.text = text}, Position::kAnyLength);
  std::vector<LayerWeights> weights;
  const Tensor scores = (*classifier.model)({ids_of(read.ids, 1)}, &weights);  // [1, C]
  HEED_CHECK(!weights.empty(), "[see] a {} has no attention to show",
             classifier.model->choice().kind().name);
  const std::vector<float> values = scores.to_vector<float>();
  const auto best = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
  AttentionView view = view_of(*classifier.tokenizer, text, read, weights);
  view.result = classifier.labels.at(best);
  return view;
}

AttentionView attention_of(const TextEmbedder& embedder, std::string_view text) {
  const NoGrad no_grad;
  tokens_of(*embedder.tokenizer, text);  // throws if there are no tokens
  const ReadText read = read_text(embedder, text, {.max_source = Position::kAnyLength});
  std::vector<LayerWeights> weights;
  embedder.model->states({ids_of(read.ids, 1)}, &weights);
  return view_of(*embedder.tokenizer, text, read, weights);
}

AttentionView attention_of(const TextFiller& filler, std::string_view text) {
  const NoGrad no_grad;
  tokens_of(*filler.tokenizer, text);  // throws if there are no tokens
  const ReadText read =
      read_text(*filler.tokenizer, filler.frame, {.text = text}, Position::kAnyLength);
  std::vector<LayerWeights> weights;
  (*filler.model)({ids_of(read.ids, 1)}, &weights);
  AttentionView view = view_of(*filler.tokenizer, text, read, weights);
  if (std::ranges::find(read.ids, filler.mask) != read.ids.end()) {
    view.result = fill(filler, {&read, 1}, {.top_k = 1})[0].text;
  }
  return view;
}

}  // namespace heed::plot

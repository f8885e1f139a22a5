#include "heed/plot/model_attention.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/data/bit_sequences.h"
#include "heed/data/element_sets.h"
#include "heed/generation/classify.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/embed.h"
#include "heed/generation/examine.h"
#include "heed/generation/fill.h"
#include "heed/generation/picture_batch.h"
#include "heed/ops/view.h"
#include "heed/pictures/picture_file.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
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

// The layers of one kind of attention; none if no layer has it, as the decoder of a recurrent
// translator has no self-attention.
std::vector<Tensor> layers_of(const std::vector<LayerWeights>& layers,
                              Tensor LayerWeights::*member) {
  std::vector<Tensor> all;
  if (std::ranges::none_of(layers,
                           [&](const LayerWeights& one) { return (one.*member).defined(); }))
    return all;
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

// The weights of attention pooling [1, 1, R, T]: hops attend to tokens.
AttentionPart hops_of(const Tensor& weights, const std::vector<std::string>& tokens) {
  AttentionPart part;
  part.kind = AttentionKind::cross;
  part.layers = {of_one(weights)};
  part.columns = tokens;
  for (std::int64_t hop = 1; hop <= weights.size(2); ++hop) {
    part.rows.push_back(fmt::format("hop {}", hop));
  }
  return part;
}

// Names of n places of a picture, row by row; rows and columns are in the picture's proportion.
std::vector<std::string> names_of_places(std::int64_t n, const PictureSize& size) {
  const double proportion = static_cast<double>(size.width) / static_cast<double>(size.height);
  const auto columns =
      std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(n) * proportion)));
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < n; ++i) {
    names.push_back(fmt::format("{},{}", i / columns + 1, i % columns + 1));
  }
  return names;
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

  std::vector<std::string> read = labels_of(*translator.source(), source);
  if (const auto copied = translator.copied(text, source)) {
    for (std::size_t i = 0; i < read.size(); ++i) {
      const std::int64_t word = copied->ids[i] - copied->vocabulary;
      if (word >= 0) read[i] = unicode::make_valid(copied->words[static_cast<std::size_t>(word)]);
    }
  }
  const AlignmentEdges edges = edges_of(translator, hypothesis);
  std::vector<std::string> written = labels_of(writer, target);
  for (const CopiedToken& one : hypothesis.copied) {
    written[static_cast<std::size_t>(one.at)] = unicode::make_valid(one.word);
  }
  std::vector<std::string> at_hand = written;
  if (edges.target_after > 0) {
    written.push_back("</s>");
  } else {
    at_hand.pop_back();  // a result of the maximum length
  }
  const std::int32_t start = translator.frame().start;
  at_hand.insert(at_hand.begin(),
                 start == writer.special().begin ? "<s>" : token_label(writer, start));
  AttentionView view{.text = unicode::make_valid(text),
                     .result = translator.text_of(hypothesis),
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
  if (weights.back().cross.defined()) {
    const AttentionPart hops = hops_of(weights.back().cross, view.parts[0].columns);
    if (view.parts[0].layers.empty()) view.parts.clear();
    view.parts.push_back(hops);
  }
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

AttentionView attention_of(const PictureClassifier& classifier, std::string_view path) {
  const NoGrad no_grad;
  const Picture picture = fitted(read_picture(std::string(path)), classifier);
  const auto [C, H, W] = classifier.model->picture();
  const Tensor x =
      picture_batch("see", {&picture, 1}, classifier.model->picture(), classifier.scale);
  std::vector<LayerWeights> weights;
  const std::vector<float> scores = (*classifier.model)(x, &weights).to_vector<float>();  // [C]
  HEED_CHECK(!weights.empty(), "[see] a {} without attention has nothing to show",
             classifier.model->choice().kind().name);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
  AttentionView view{
      .text = unicode::make_valid(path), .result = classifier.labels.at(best), .parts = {}};
  AttentionPart& part = view.parts.emplace_back();
  const bool has_glimpses = weights[0].cross.defined();
  part.kind = has_glimpses ? AttentionKind::cross : AttentionKind::encoder;
  part.layers = layers_of(weights, has_glimpses ? &LayerWeights::cross : &LayerWeights::self);
  part.columns = names_of_places(part.layers[0].size(2), classifier.model->picture());
  if (!has_glimpses) {
    part.rows = names_of_places(part.layers[0].size(1), classifier.model->picture());
    return view;
  }
  for (std::int64_t t = 1; t <= part.layers[0].size(1); ++t) {
    part.rows.push_back(fmt::format("glimpse {}", t));
  }
  view.picture = {picture, H, W};
  return view;
}

AttentionView attention_of(const PictureCaptioner& captioner, std::string_view path) {
  const PictureSize size = captioner.model->picture();
  const Picture picture = fitted(read_picture(std::string(path)), size);
  const Tensor x = picture_batch("see", {&picture, 1}, size, captioner.scale);  // [1, C, H, W]
  const Caption said = caption(captioner, x)[0];
  const std::vector<LayerWeights> weights = caption_weights(captioner, x, said.hypothesis.tokens);
  HEED_CHECK(!weights.empty(), "[see] a {} without attention has nothing to show",
             captioner.model->choice().kind().name);
  AttentionView view{.text = unicode::make_valid(path), .result = said.text, .parts = {}};
  AttentionPart& part = view.parts.emplace_back();
  part.kind = AttentionKind::cross;
  part.rows = labels_of(*captioner.tokenizer, said.hypothesis.tokens);
  part.rows.emplace_back("</s>");
  part.layers = layers_of(weights, &LayerWeights::cross);
  const auto [rows, columns] = captioner.model->cells();
  part.columns = names_of_places(rows * columns, size);
  view.picture = {picture, rows, columns};
  return view;
}

AttentionView attention_of(const ElementPointer& pointer, std::string_view text) {
  ElementSet set;
  const auto fault = parse_elements(text, {.features = pointer.model->features()}, set);
  HEED_CHECK(!fault, "[see] the set {}", fault->what);
  ElementCorpus one{.features = pointer.model->features()};
  one.add(set);
  const ElementBatch batch = make_batch(one, std::vector<std::int32_t>{0});
  const NoGrad no_grad;
  const Elements elements{batch.elements, batch.lengths};
  std::vector<std::int32_t> found = point(*pointer.model, elements)[0].positions;
  AttentionView view{
      .text = std::string(text), .result = fmt::format("{}", fmt::join(found, " ")), .parts = {}};
  found.push_back(0);  // the end
  std::vector<LayerWeights> weights;
  pointer.model->log_probs(elements, cast(ids_of(found, 1), DType::i64), &weights);
  AttentionPart& part = view.parts.emplace_back();
  part.kind = AttentionKind::cross;
  const auto name = [](std::int64_t i) { return i == 0 ? std::string("end") : std::to_string(i); };
  for (const std::int32_t position : found) part.rows.push_back(name(position));
  for (std::int64_t i = 0; i <= batch.elements.size(1); ++i) part.columns.push_back(name(i));
  part.layers = layers_of(weights, &LayerWeights::cross);
  return view;
}

AttentionView attention_of(const BitMachine& machine, std::string_view text) {
  const BitWidths widths{machine.model->inputs(), machine.model->outputs()};
  BitSequence sequence;
  const auto fault = parse_bits(text, widths, sequence);
  HEED_CHECK(!fault, "[see] the sequence {}", fault->what);
  const BitSequence* const one = &sequence;
  const BitBatch batch = make_batch({&one, 1}, widths, std::ssize(sequence.input));
  const NoGrad no_grad;
  std::vector<LayerWeights> weights;
  (*machine.model)(batch.input, &weights);
  AttentionView view{.text = std::string(text), .parts = {}};
  for (const auto member : {&LayerWeights::cross, &LayerWeights::self}) {
    AttentionPart& part = view.parts.emplace_back();
    part.kind = member == &LayerWeights::cross ? AttentionKind::cross : AttentionKind::decoder;
    part.layers = layers_of(weights, member);
    for (std::int64_t t = 1; t <= batch.input.size(1); ++t) part.rows.push_back(std::to_string(t));
    for (std::int64_t slot = 1; slot <= part.layers[0].size(2); ++slot) {
      part.columns.push_back(std::to_string(slot));
    }
  }
  return view;
}

AttentionView attention_of(const ClozeReader& reader, std::string_view text) {
  const std::size_t end = text.rfind("|||");
  HEED_CHECK(end != text.npos,
             "[see] the text has no |||: give a passage, ||| and a question with {}", kBlank);
  const ClozeQuestion question{.passage = cloze_words(text.substr(0, end)),
                               .question = cloze_words(text.substr(end + 3))};
  AttentionView view{.text = unicode::make_valid(text),
                     .result = read_questions(reader, {&question, 1})[0].word,
                     .parts = {}};
  ClozeCorpus one;
  one.add(question, *reader.tokenizer);
  const NoGrad no_grad;
  std::vector<LayerWeights> weights;
  (*reader.model)(passages_of(make_batch(one, std::vector<std::int32_t>{0})), &weights);
  AttentionPart& part = view.parts.emplace_back();
  part.kind = AttentionKind::cross;
  part.layers = layers_of(weights, &LayerWeights::cross);
  part.columns = question.passage;
  const bool has_all = part.layers[0].size(1) == std::ssize(question.question);
  part.rows = has_all
                  ? question.question
                  : std::vector<std::string>{fmt::format("{}", fmt::join(question.question, " "))};
  return view;
}

AttentionView attention_of(const StoryAnswerer& answerer, std::string_view text) {
  StoryQuestion story = parse_story(text);
  const std::int64_t longest = answerer.model->max_sentences();
  if (std::ssize(story.sentences) > longest) {
    story.sentences.erase(story.sentences.begin(), story.sentences.end() - longest);
  }
  HEED_CHECK(!story.sentences.empty(),
             "[see] the text has no sentence before the question: give a story");
  AttentionView view{.text = unicode::make_valid(text),
                     .result = answer_questions(answerer, {&story, 1})[0].answer,
                     .parts = {}};
  StoryCorpus one;
  one.add(story, *answerer.tokenizer);
  const NoGrad no_grad;
  std::vector<LayerWeights> weights;
  (*answerer.model)(
      stories_of(make_batch(one, std::vector<std::int32_t>{0}, {.max_sentences = longest})),
      &weights);
  AttentionPart& part = view.parts.emplace_back();
  part.kind = AttentionKind::cross;
  part.layers = layers_of(weights, &LayerWeights::cross);
  const auto joined = [](const auto& words) { return fmt::format("{}", fmt::join(words, " ")); };
  part.rows = {joined(story.question)};
  for (const auto& sentence : story.sentences) part.columns.push_back(joined(sentence));
  return view;
}

}  // namespace heed::plot

// POST /v1/attention: the attention weights of a model for a text, and of a translator for its
// translation.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "heed/base/interrupt.h"
#include "heed/generation/request.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/plot/attention_page.h"
#include "heed/plot/model_attention.h"
#include "heed/serve/api_error.h"
#include "heed/serve/handlers.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed::serve {
namespace {

using plot::AttentionPart;
using plot::AttentionView;

bool is_chosen(const std::vector<std::int64_t>& chosen, std::int64_t index) {
  return chosen.empty() || std::ranges::find(chosen, index + 1) != chosen.end();
}

// Throws unless all numbers, from 1, are at most `most`.
void check_numbers(const std::vector<std::int64_t>& numbers, std::int64_t most,
                   std::string_view what) {
  for (const std::int64_t number : numbers) {
    if (number > most) {
      throw ApiError(400, fmt::format("{} {}: the model has {}", what, number, most));
    }
  }
}

// The heads of a layer that are asked for; all if none is named.
Tensor heads_of(const Tensor& layer, const std::vector<std::int64_t>& heads) {
  if (heads.empty()) return contiguous_copy(layer);
  const std::int64_t size = layer.size(1) * layer.size(2);
  Tensor chosen = empty({std::ssize(heads), layer.size(1), layer.size(2)});
  const Tensor whole = contiguous_copy(layer);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    std::copy_n(whole.data<float>() + (heads[i] - 1) * size, size,
                chosen.mutable_data<float>() + static_cast<std::int64_t>(i) * size);
  }
  return chosen;
}

// A part with the chosen layers and heads, and the numbers of the layers.
struct ChosenPart {
  AttentionPart part;
  std::vector<std::int64_t> layers = {};
};

std::vector<ChosenPart> choose(const AttentionView& view, const AttentionBody& body) {
  std::vector<ChosenPart> chosen;
  std::int64_t layers = 0, heads = std::numeric_limits<std::int64_t>::max();
  for (const AttentionPart& part : view.parts) {
    const bool is_wanted =
        body.kinds.empty() || std::ranges::find(body.kinds, part.kind) != body.kinds.end();
    if (!is_wanted || part.layers.empty()) continue;
    layers = std::max(layers, std::ssize(part.layers));
    for (const Tensor& layer : part.layers) heads = std::min(heads, layer.size(0));
    ChosenPart& one = chosen.emplace_back();
    one.part = {.kind = part.kind, .rows = part.rows, .columns = part.columns, .layers = {}};
  }
  if (chosen.empty()) throw ApiError(400, "the model has no attention of these kinds");
  check_numbers(body.layers, layers, "layer");
  check_numbers(body.heads, heads, "head");
  for (ChosenPart& one : chosen) {
    const AttentionPart& part = *std::ranges::find(view.parts, one.part.kind, &AttentionPart::kind);
    for (std::int64_t l = 0; l < std::ssize(part.layers); ++l) {
      if (!is_chosen(body.layers, l)) continue;
      one.layers.push_back(l + 1);
      one.part.layers.push_back(heads_of(part.layers[static_cast<std::size_t>(l)], body.heads));
    }
  }
  return chosen;
}

// ---- forms --------------------------------------------------------------------------------------

// Nested lists of the last `depth` dimensions.
std::string list_json(std::span<const float> values, std::span<const std::int64_t> shape) {
  if (shape.size() == 1) return fmt::format("[{}]", fmt::join(values, ","));
  std::string text = "[";
  const std::size_t step =
      values.size() / std::max<std::size_t>(1, static_cast<std::size_t>(shape[0]));
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    if (i > 0) text += ",";
    text += list_json(values.subspan(static_cast<std::size_t>(i) * step, step), shape.subspan(1));
  }
  return text + "]";
}

std::string tensor_json(const Tensor& tensor) {
  const Tensor whole = contiguous_copy(tensor);
  std::vector<std::int64_t> shape;
  for (std::int64_t i = 0; i < whole.rank(); ++i) shape.push_back(whole.size(i));
  return list_json(whole.values<float>(), shape);
}

std::string labels_json(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) {
    text += (text.empty() ? "" : ",") + io::quote_json(label);
  }
  return "[" + text + "]";
}

std::string view_json(const AttentionBody& body, const AttentionView& view,
                      const std::vector<ChosenPart>& chosen) {
  std::string parts;
  for (const auto& [part, layers] : chosen) {
    std::string weights;
    for (const Tensor& layer : part.layers) {
      weights += (weights.empty() ? "" : ",") + tensor_json(layer);
    }
    parts += fmt::format(
        "{}{{\"kind\":\"{}\",\"rows\":{},\"columns\":{},\"layers\":[{}],\"weights\":[{}]}}",
        parts.empty() ? "" : ",", plot::name_of(part.kind), labels_json(part.rows),
        labels_json(part.columns), fmt::join(layers, ","), weights);
  }
  return fmt::format(
      "{{\"object\":\"attention\",\"model\":{},\"text\":{},\"result\":{},\"parts\":[{}]{}}}",
      io::quote_json(body.model), io::quote_json(view.text), io::quote_json(view.result), parts,
      view.alignment.defined() ? ",\"alignment\":" + tensor_json(view.alignment) : "");
}

// Tensors "cross.1" [H, T, Tk], and the labels as metadata.
std::string view_tensors(const AttentionView& view, const std::vector<ChosenPart>& chosen) {
  std::vector<io::SafetensorsItem> items;
  io::Metadata metadata{{"text", view.text}, {"result", view.result}};
  for (const auto& [part, layers] : chosen) {
    const std::string kind(plot::name_of(part.kind));
    metadata[kind + ".rows"] = labels_json(part.rows);
    metadata[kind + ".columns"] = labels_json(part.columns);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const Tensor& layer = part.layers[l];
      items.push_back({.name = fmt::format("{}.{}", kind, layers[l]),
                       .type = io::tensor_type_of(DType::f32),
                       .shape = layer.shape(),
                       .bytes = std::as_bytes(layer.values<float>())});
    }
  }
  const std::vector<std::byte> bytes = io::safetensors_bytes(items, metadata);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

HttpResponse response_of(const AttentionBody& body, const AttentionView& view) {
  plot::check_view(view);
  const std::vector<ChosenPart> chosen = choose(view, body);
  if (body.format == WeightFormat::safetensors) {
    return {.body = view_tensors(view, chosen), .content_type = "application/octet-stream"};
  }
  if (body.format == WeightFormat::json) return {.body = view_json(body, view, chosen)};
  AttentionView packed{
      .text = view.text, .result = view.result, .parts = {}, .alignment = view.alignment};
  for (const ChosenPart& one : chosen) packed.parts.push_back(one.part);
  return {.body = plot::attention_data(packed)};
}

// ---- weights ------------------------------------------------------------------------------------

void check_length(std::int64_t tokens, const ApiContext& context) {
  const std::int64_t most = context.config.limits.attention_tokens;
  if (tokens > most) {
    throw ApiError(
        400, fmt::format("a text of {} tokens: attention is shown for up to {}", tokens, most));
  }
}

AttentionView view_of_translator(const ApiContext& context, const Translator& loaded,
                                 const AttentionBody& body, const OnStep& on_step) {
  const bool names = !body.source.empty() || !body.target.empty();
  const Translator translator = names && !loaded.format().languages.all.empty()
                                    ? loaded.between(body.source, body.target)
                                    : loaded;
  check_length(std::ssize(translator.read(body.input)), context);
  if (body.result) {
    std::vector<std::int32_t> tokens = translator.read_result(*body.result);
    check_length(std::ssize(tokens), context);
    return plot::attention_of(translator, body.input, Hypothesis{.tokens = std::move(tokens)});
  }
  TranslateOptions options{.observed = ObservedWeights::all, .on_step = on_step};
  options.search = translator.format().search;
  if (context.config.beam_size) options.search.beam_size = *context.config.beam_size;
  options.search.max_length =
      std::min(options.search.max_length, context.config.limits.attention_tokens);
  const auto found = translator.translate({&body.input, 1}, options);
  HEED_CHECK(!found[0].empty(), "[serve] the search found no translation: send one as result");
  return plot::attention_of(translator, body.input, found[0][0].hypothesis);
}

AttentionView view_of(const ApiContext& context, const ServedModel& model,
                      const AttentionBody& body, const OnStep& on_step) {
  if (const Translator* const translator = model.translator()) {
    return view_of_translator(context, *translator, body, on_step);
  }
  if (body.result) throw ApiError(400, model.name() + " is no translator: leave out result");
  if (const TextGenerator* const generator = model.generator()) {
    check_length(std::ssize(generator->tokenizer->encode(body.input)), context);
    return plot::attention_of(*generator, body.input);
  }
  check_length(std::ssize(model.embedder()->tokenizer->encode(body.input)), context);
  return plot::attention_of(*model.embedder(), body.input);
}

}  // namespace

void show_attention(const ApiContext& context, const ServedModels& models,
                    const AttentionBody& body, const ExchangePtr& exchange) {
  const ServedModelPtr model = find_model(models, body.model);
  check_bytes(std::max(body.input.size(), body.result.value_or("").size()),
              context.config.limits.attention_tokens);
  exchange->note([&](Facts& facts) { facts.model = model->name(); });
  const OnStep check = [exchange] {
    if (exchange->is_cancelled()) throw Cancelled();
  };
  const bool is_accepted = context.viewers.try_post([=, &context] {
    answer_or_error(exchange, true, [&] {
      check();
      const InterruptScope scope(check);
      exchange->answer(response_of(body, view_of(context, *model, body, check)));
    });
  });
  if (!is_accepted)
    throw try_again(503, "too many texts wait to be shown: try again later", 2, "queue");
}

}  // namespace heed::serve

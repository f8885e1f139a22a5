#include "heed/generation/embed.h"

#include <algorithm>
#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/ordering.h"
#include "heed/io/config.h"
#include "heed/tensor/create.h"

namespace heed {

void EmbedOptions::fields(io::Fields& field) {
  field("pooling", pooling,
        "states that make the vector of a text; none: as the model was trained");
  field("normalize", normalize,
        "whether vectors are divided by their length; none: as the model was trained");
  field("prompt", prompt, "text put before every text; none: as the model was trained");
  field("max_source", max_source, "maximum number of tokens read of a text", {.min = 1});
}

void EmbedOptions::validate() const { io::check_limits(*this, "embed"); }

ReadText read_text(const TextEmbedder& embedder, std::string_view text,
                   const EmbedOptions& options) {
  const std::int64_t longest = std::min(options.max_source, embedder.model->max_length());
  std::string whole = options.prompt.value_or(embedder.prompt);
  whole += text;
  return read_text(*embedder.tokenizer, embedder.frame, {.text = whole}, longest);
}

Tensor embed(const TextEmbedder& embedder, std::span<const ReadText> texts,
             const EmbedOptions& options) {
  const NoGrad no_grad;
  const TextBatch batch = batch_of(texts, embedder.tokenizer->special().padding);
  const Tensor states = embedder.model->states(batch);  // [B, T, E]
  return embedder.model->vectors(states, batch.lengths,
                                 {.pooling = options.pooling, .normalize = options.normalize});
}

Tensor embed_texts(const TextEmbedder& embedder, std::span<const std::string> texts,
                   const EmbedOptions& options, std::int64_t batch_tokens,
                   const std::function<void()>& on_batch) {
  options.validate();
  const OrderingOptions ordering{.batch_tokens = batch_tokens};
  ordering.validate();
  std::vector<ReadText> read;
  std::vector<std::int64_t> lengths;
  for (const std::string& text : texts) {
    read.push_back(read_text(embedder, text, options));
    lengths.push_back(read.back().size());
  }
  const std::int64_t E = embedder.model->vector_size();
  Tensor all = empty({std::ssize(texts), E});  // [N, E']
  const auto run = [&](std::span<const std::int64_t> places, const OnStep& on_step) {
    if (on_step) on_step();
    std::vector<ReadText> batch;
    for (const std::int64_t place : places) {
      batch.push_back(std::move(read[static_cast<std::size_t>(place)]));
    }
    const Tensor found = embed(embedder, batch, options);  // [B, E']
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::copy_n(found.data<float>() + static_cast<std::int64_t>(i) * E, E,
                  all.mutable_data<float>() + places[i] * E);
    }
  };
  for_batches(lengths, ordering, on_batch, run);
  return all;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  HEED_CHECK(a.size() == b.size(), "[embed] vectors of {} and of {} features: they must agree",
             a.size(), b.size());
  double product = 0.0, first = 0.0, second = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    product += x * y;
    first += x * x;
    second += y * y;
  }
  const double lengths = std::sqrt(first) * std::sqrt(second);
  return lengths > 0.0 ? product / lengths : 0.0;
}

NearestTexts::NearestTexts(std::vector<std::vector<float>> queries, std::int64_t count)
    : queries_(std::move(queries)), count_(count), found_(queries_.size()) {
  HEED_CHECK(count >= 1, "[embed] the {} nearest texts: ask for at least one", count);
}

void NearestTexts::add(const std::string& text, std::span<const float> vector) {
  const std::int64_t number = texts_++;
  for (std::size_t q = 0; q < queries_.size(); ++q) {
    std::vector<NearText>& best = found_[q];
    const double similarity = cosine(queries_[q], vector);
    const bool is_full = std::ssize(best) == count_;
    if (is_full && similarity <= best.back().similarity) continue;
    const auto place = std::ranges::find_if(
        best, [&](const NearText& other) { return other.similarity < similarity; });
    best.insert(place, {similarity, number, text});
    if (is_full) best.pop_back();
  }
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct EmbedderKeys {
  std::string tokenizer, prompt;
  TextFrame frame = TextFrame::begin;

  void fields(io::Fields& field, bool is_imported) {
    if (is_imported) return;
    field("tokenizer", tokenizer, "file of the tokenizer");
    field("prompt", prompt, "text before every text");
    field("frame", frame, "tokens around a text");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    TextEmbedder embedder{as_interface<EncodingModel>(std::move(model)),
                          load_tokenizer(folder / tokenizer), frame, prompt};
    check_vocabulary(embedder.model->vocabulary(), *embedder.tokenizer, folder, frame);
    return embedder;
  }
};

}  // namespace

constinit const FolderFormat kEmbedderFolder =
    folder_format<EmbedderKeys, import_embedder>(Task::embed);

TextEmbedder load_text_embedder(const std::filesystem::path& place, WeightForm form) {
  return std::get<TextEmbedder>(load_task(place, Task::embed, form));
}

void save_model(const TextEmbedder& embedder, const std::filesystem::path& folder) {
  EmbedderKeys keys{.tokenizer = "", .prompt = embedder.prompt, .frame = embedder.frame};
  if (!embedder.origin) keys.tokenizer = write_tokenizer(*embedder.tokenizer, folder);
  save_folder(*embedder.model, std::move(keys), embedder.origin, folder);
}

}  // namespace heed

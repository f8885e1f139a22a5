#include "heed/generation/fill.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/ordering.h"
#include "heed/io/config.h"
#include "heed/ops/index.h"
#include "heed/ops/order.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// The text of one token, without the space before a word.
std::string text_of(const Tokenizer& tokenizer, std::int32_t id) {
  std::string text = tokenizer.decode({&id, 1});
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? tokenizer.piece(id) : text.substr(begin);
}

// Where the masked positions of a batch are in its states [B T, E].
Tensor masked_rows(const TextFiller& filler, std::span<const ReadText> texts, std::int64_t T) {
  std::vector<std::int64_t> rows;
  for (std::size_t b = 0; b < texts.size(); ++b) {
    const std::vector<std::int32_t>& ids = texts[b].ids;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      if (ids[t] == filler.mask) rows.push_back(static_cast<std::int64_t>(b) * T + std::int64_t(t));
    }
  }
  return from_values(std::span<const std::int64_t>(rows), {std::ssize(rows)});
}

// Probabilities [N, V] -> the most probable tokens of each row.
std::vector<std::vector<Filling>> best_of(const Tokenizer& tokenizer, const Tensor& p,
                                          std::int64_t top) {
  const std::int64_t known = std::min(p.size(1), tokenizer.size());  // other rows are no tokens
  const std::int64_t k = std::min(top, known);
  const Ordered best = topk(contiguous(slice(p, 1, 0, known)), k);
  std::vector<std::vector<Filling>> found;
  for (std::int64_t i = 0; i < p.size(0); ++i) {
    std::vector<Filling>& fillings = found.emplace_back();
    for (std::int64_t j = i * k; j < (i + 1) * k; ++j) {
      const auto id = static_cast<std::int32_t>(best.indices.data<std::int64_t>()[j]);
      fillings.push_back({id, text_of(tokenizer, id), best.values.data<float>()[j]});
    }
  }
  return found;
}

}  // namespace

void FillOptions::fields(io::Fields& field) {
  field("top_k", top_k, "number of tokens for each masked position", {.min = 1, .max = 1 << 20});
  field("max_source", max_source, "maximum number of tokens read of a text", {.min = 1});
  field("batch_tokens", batch_tokens, "tokens of a batch, including padding",
        {.min = 1, .max = 1 << 30});
}

void FillOptions::validate() const { io::check_limits(*this, "fill"); }

ReadText read_masked(const TextFiller& filler, std::string_view text, std::int64_t longest,
                     std::string_view place) {
  const std::int64_t room = std::min(longest, filler.model->max_length());
  ReadText read = read_text(*filler.tokenizer, filler.frame, {.text = text}, room);
  HEED_CHECK(
      std::ranges::find(read.ids, filler.mask) != read.ids.end(),
      "[fill] {} has no {} among its first {} tokens: write one where a token is to be found",
      place, filler.tokenizer->piece(filler.mask), read.size());
  return read;
}

std::vector<FilledText> fill(const TextFiller& filler, std::span<const ReadText> texts,
                             const FillOptions& options) {
  if (texts.empty()) return {};
  const NoGrad no_grad;
  const Tokenizer& tokenizer = *filler.tokenizer;
  const TextBatch batch = batch_of(texts, tokenizer.special().padding);
  const Tensor states = (*filler.model)(batch);  // [B, T, E]
  const Tensor flat = reshape(states, {states.size(0) * states.size(1), states.size(2)});
  const Tensor masked =
      index_select(flat, 0, masked_rows(filler, texts, states.size(1)));  // [N, E]
  const Tensor p = softmax(filler.model->output_layer()(masked));         // [N, V]
  std::vector<std::vector<Filling>> found = best_of(tokenizer, p, options.top_k);
  std::vector<FilledText> results;
  std::size_t next = 0;
  for (const ReadText& text : texts) {
    FilledText& result = results.emplace_back();
    std::vector<std::int32_t> ids = text.ids;
    for (std::int32_t& id : ids) {
      if (id != filler.mask) continue;
      id = found[next].front().id;
      result.masks.push_back(std::move(found[next++]));
    }
    result.text = tokenizer.decode(ids);
  }
  return results;
}

std::vector<FilledText> fill_texts(const TextFiller& filler, std::span<const std::string> texts,
                                   const FillOptions& options,
                                   const std::function<void()>& on_batch) {
  options.validate();
  std::vector<ReadText> read;
  std::vector<std::int64_t> lengths;
  for (const std::string& text : texts) {
    read.push_back(
        read_masked(filler, text, options.max_source,
                    texts.size() == 1 ? "the text" : fmt::format("text {}", read.size())));
    lengths.push_back(read.back().size());
  }
  std::vector<FilledText> results(texts.size());
  const auto run = [&](std::span<const std::int64_t> places, const OnStep& on_step) {
    if (on_step) on_step();
    std::vector<ReadText> batch;
    for (const std::int64_t place : places) {
      batch.push_back(std::move(read[static_cast<std::size_t>(place)]));
    }
    std::vector<FilledText> found = fill(filler, batch, options);
    for (std::size_t i = 0; i < places.size(); ++i) {
      results[static_cast<std::size_t>(places[i])] = std::move(found[i]);
    }
  };
  for_batches(lengths, {.batch_tokens = options.batch_tokens}, on_batch, run);
  return results;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct FillerKeys {
  std::string tokenizer;
  std::int64_t mask = 0;
  TextFrame frame = TextFrame::begin;

  void fields(io::Fields& field, bool is_imported) {
    if (is_imported) return;
    field("tokenizer", tokenizer, "file of the tokenizer");
    field("mask", mask, "the token that stands for a masked one", {.min = 0});
    field("frame", frame, "tokens around a text");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    TextFiller filler{as_interface<FillingModel>(std::move(model)),
                      load_tokenizer(folder / tokenizer), static_cast<std::int32_t>(mask), frame};
    check_vocabulary(filler.model->vocabulary(), *filler.tokenizer, folder, frame);
    HEED_CHECK(mask < filler.tokenizer->size(),
               "[model] {}: the mask is token {}, the tokenizer has {} tokens: they do not belong "
               "together",
               folder.string(), mask, filler.tokenizer->size());
    return filler;
  }
};

}  // namespace

constinit const FolderFormat kFillerFolder = folder_format<FillerKeys, import_filler>(Task::fill);

TextFiller load_text_filler(const std::filesystem::path& place, WeightForm form) {
  return std::get<TextFiller>(load_task(place, Task::fill, form));
}

void save_model(const TextFiller& filler, const std::filesystem::path& folder) {
  FillerKeys keys{.tokenizer = "", .mask = filler.mask, .frame = filler.frame};
  if (!filler.origin) keys.tokenizer = write_tokenizer(*filler.tokenizer, folder);
  save_folder(*filler.model, std::move(keys), filler.origin, folder);
}

}  // namespace heed

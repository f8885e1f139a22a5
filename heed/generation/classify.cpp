#include "heed/generation/classify.h"

#include <algorithm>
#include <numeric>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/folder_format.h"
#include "heed/generation/ordering.h"
#include "heed/io/config.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/softmax.h"

namespace heed {

namespace {

Tensor scored(const Tensor& scores, Scoring scoring) {
  if (scoring == Scoring::none) return scores;
  return scoring == Scoring::sigmoid ? sigmoid(scores) : softmax(scores);
}

}  // namespace

ReadText read_text(const TextClassifier& classifier, const TextOrPair& text, std::int64_t longest) {
  return read_text(*classifier.tokenizer, classifier.frame, text, longest);
}

std::vector<std::vector<float>> classify(const TextClassifier& classifier,
                                         std::span<const ReadText> texts) {
  if (texts.empty()) return {};
  const NoGrad no_grad;
  const TextBatch batch = batch_of(texts, classifier.tokenizer->special().padding);
  const Tensor p = scored((*classifier.model)(batch), classifier.scoring);  // [B, C]
  const std::span<const float> all = p.values<float>();
  const auto classes = static_cast<std::size_t>(p.size(1));
  std::vector<std::vector<float>> results;
  for (std::size_t b = 0; b < texts.size(); ++b) {
    const std::span<const float> row = all.subspan(b * classes, classes);
    results.emplace_back(row.begin(), row.end());
  }
  return results;
}

void ClassifyOptions::fields(io::Fields& field) {
  field("max_source", max_source, "maximum number of tokens read of a text", {.min = 1});
  field("batch_tokens", batch_tokens, "tokens of a batch, including padding",
        {.min = 1, .max = 1 << 30});
}

void ClassifyOptions::validate() const { io::check_limits(*this, "classify"); }

std::vector<std::vector<float>> classify_texts(const TextClassifier& classifier,
                                               std::span<const TextOrPair> texts,
                                               const ClassifyOptions& options,
                                               const std::function<void()>& on_batch) {
  options.validate();
  const std::int64_t longest = std::min(options.max_source, classifier.model->max_length());
  std::vector<ReadText> read;
  std::vector<std::int64_t> lengths;
  for (const TextOrPair& text : texts) {
    read.push_back(read_text(classifier, text, longest));
    lengths.push_back(read.back().size());
  }
  std::vector<std::vector<float>> results(texts.size());
  const auto run = [&](std::span<const std::int64_t> places, const OnStep& on_step) {
    if (on_step) on_step();
    std::vector<ReadText> batch;
    for (const std::int64_t place : places) batch.push_back(read[static_cast<std::size_t>(place)]);
    std::vector<std::vector<float>> found = classify(classifier, batch);
    for (std::size_t i = 0; i < places.size(); ++i) {
      results[static_cast<std::size_t>(places[i])] = std::move(found[i]);
    }
  };
  for_batches(lengths, {.batch_tokens = options.batch_tokens}, on_batch, run);
  return results;
}

std::vector<std::vector<float>> classify_texts(const TextClassifier& classifier,
                                               std::span<const std::string> texts,
                                               const ClassifyOptions& options,
                                               const std::function<void()>& on_batch) {
  std::vector<TextOrPair> single;
  for (const std::string& text : texts) single.push_back({.text = text});
  return classify_texts(classifier, std::span<const TextOrPair>(single), options, on_batch);
}

std::vector<std::size_t> by_probability(std::span<const float> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  return order;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct ClassifierKeys {
  std::string tokenizer;
  std::vector<std::string> labels;
  Scoring scoring = Scoring::softmax;
  TextFrame frame = TextFrame::begin;

  void fields(io::Fields& field, bool is_imported) {
    if (!is_imported) field("tokenizer", tokenizer, "file of the tokenizer");
    field("labels", labels, "names of the classes");
    if (is_imported) return;
    field("scoring", scoring, "what the scores of classes become");
    field("frame", frame, "tokens around a text");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    TextClassifier classifier{as_interface<ClassificationModel>(std::move(model)),
                              load_tokenizer(folder / tokenizer), labels, frame, scoring};
    check_vocabulary(classifier.model->vocabulary(), *classifier.tokenizer, folder, frame);
    HEED_CHECK(classifier.model->classes() == std::ssize(labels),
               "[model] {}: the model has {} classes, and there are {} labels: they do not belong "
               "together",
               folder.string(), classifier.model->classes(), labels.size());
    return classifier;
  }
};

}  // namespace

constinit const FolderFormat kClassifierFolder =
    folder_format<ClassifierKeys, import_classifier>(Task::classify);

TextClassifier load_text_classifier(const std::filesystem::path& place, WeightForm form) {
  return std::get<TextClassifier>(load_task(place, Task::classify, form));
}

void save_model(const TextClassifier& classifier, const std::filesystem::path& folder) {
  ClassifierKeys keys{.tokenizer = "",
                      .labels = classifier.labels,
                      .scoring = classifier.scoring,
                      .frame = classifier.frame};
  if (!classifier.origin) keys.tokenizer = write_tokenizer(*classifier.tokenizer, folder);
  save_folder(*classifier.model, std::move(keys), classifier.origin, folder);
}

}  // namespace heed

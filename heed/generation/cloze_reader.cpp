#include "heed/generation/cloze_reader.h"

#include <algorithm>
#include <numeric>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/folder_format.h"

namespace heed {

Passages passages_of(const ClozeBatch& batch) {
  return {.words = batch.words,
          .lengths = batch.lengths,
          .questions = batch.questions,
          .question_lengths = batch.question_lengths};
}

std::vector<BestCandidate> best_candidates(const Tensor& probabilities, const Tensor& candidates) {
  const std::int64_t B = candidates.size(0), T = candidates.size(1);
  const std::vector<float> p = probabilities.to_vector<float>();
  const std::vector<std::int64_t> numbers = candidates.to_vector<std::int64_t>();
  std::vector<BestCandidate> best;
  for (std::int64_t b = 0; b < B; ++b) {
    std::vector<double> sums(static_cast<std::size_t>(T));
    for (std::int64_t t = b * T; t < (b + 1) * T; ++t) {
      const std::int64_t number = numbers[static_cast<std::size_t>(t)];
      if (number >= 0) sums[static_cast<std::size_t>(number)] += p[static_cast<std::size_t>(t)];
    }
    const auto found = std::ranges::max_element(sums);
    best.push_back({found - sums.begin(), *found});
  }
  return best;
}

std::vector<FoundWord> read_questions(const ClozeReader& reader,
                                      std::span<const ClozeQuestion> questions) {
  if (questions.empty()) return {};
  ClozeCorpus corpus;
  for (const ClozeQuestion& question : questions) {
    const auto fault = find_fault(question);
    HEED_CHECK(!fault, "[read] the text {}", fault->what);
    corpus.add(question, *reader.tokenizer);
  }
  std::vector<std::int32_t> all(questions.size());
  std::iota(all.begin(), all.end(), 0);
  const NoGrad no_grad;
  const ClozeBatch batch = make_batch(corpus, all);
  const Tensor p = (*reader.model)(passages_of(batch));  // [B, T]
  std::vector<FoundWord> found;
  for (const BestCandidate& best : best_candidates(p, batch.candidates)) {
    const auto row = std::ssize(found);
    const auto at = std::ranges::find(corpus.candidates[row], best.number);
    found.push_back({questions[found.size()]
                         .passage[static_cast<std::size_t>(at - corpus.candidates[row].begin())],
                     best.probability});
  }
  return found;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct ClozeReaderKeys {
  std::string tokenizer;

  void fields(io::Fields& field, bool /*is_imported*/) {
    field("tokenizer", tokenizer, "file of the tokenizer");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    ClozeReader reader{as_interface<ReadingModel>(std::move(model)),
                       load_tokenizer(folder / tokenizer)};
    check_words(*reader.tokenizer);
    check_vocabulary(reader.model->vocabulary(), *reader.tokenizer, folder);
    return reader;
  }
};

}  // namespace

constinit const FolderFormat kClozeReaderFolder = folder_format<ClozeReaderKeys>(Task::read);

ClozeReader load_cloze_reader(const std::filesystem::path& place, WeightForm form) {
  return std::get<ClozeReader>(load_task(place, Task::read, form));
}

void save_model(const ClozeReader& reader, const std::filesystem::path& folder) {
  ClozeReaderKeys keys{.tokenizer = write_tokenizer(*reader.tokenizer, folder)};
  save_folder(*reader.model, std::move(keys), {}, folder);
}

}  // namespace heed

#include "heed/generation/story_answerer.h"

#include <algorithm>
#include <numeric>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/folder_format.h"
#include "heed/ops/softmax.h"

namespace heed {

Stories stories_of(const StoryBatch& batch) {
  return {.sentences = batch.sentences, .ages = batch.ages, .questions = batch.questions};
}

std::vector<StoryAnswer> answer_questions(const StoryAnswerer& answerer,
                                          std::span<const StoryQuestion> questions) {
  if (questions.empty()) return {};
  StoryCorpus corpus;
  for (const StoryQuestion& question : questions) {
    HEED_CHECK(!question.question.empty(), "[answer] the question has no words");
    corpus.add(question, *answerer.tokenizer);
  }
  std::vector<std::int32_t> all(questions.size());
  std::iota(all.begin(), all.end(), 0);
  const NoGrad no_grad;
  const StoryBatch batch =
      make_batch(corpus, all, {.max_sentences = answerer.model->max_sentences()});
  const Tensor p = softmax((*answerer.model)(stories_of(batch)));  // [B, V]
  const std::vector<float> values = p.to_vector<float>();
  std::vector<StoryAnswer> found;
  for (auto row = values.begin(); row != values.end(); row += p.size(1)) {
    const auto best = std::max_element(row, row + p.size(1));
    found.push_back({answerer.tokenizer->piece(static_cast<std::int32_t>(best - row)), *best});
  }
  return found;
}

StoryQuestion parse_story(std::string_view text) {
  StoryQuestion story;
  constexpr std::string_view kEnds = ".?!\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kEnds), text.size());
    std::vector<std::string> words = story_words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!words.empty()) story.sentences.push_back(std::move(words));
  }
  HEED_CHECK(!story.sentences.empty(),
             "[answer] the text has no words: give sentences, of which the last is the question");
  story.question = std::move(story.sentences.back());
  story.sentences.pop_back();
  return story;
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct StoryAnswererKeys {
  std::string tokenizer;

  void fields(io::Fields& field, bool /*is_imported*/) {
    field("tokenizer", tokenizer, "file of the tokenizer");
  }
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& folder) const {
    StoryAnswerer answerer{as_interface<AnsweringModel>(std::move(model)),
                           load_tokenizer(folder / tokenizer)};
    check_words(*answerer.tokenizer);
    check_vocabulary(answerer.model->vocabulary(), *answerer.tokenizer, folder);
    return answerer;
  }
};

}  // namespace

constinit const FolderFormat kStoryAnswererFolder = folder_format<StoryAnswererKeys>(Task::answer);

StoryAnswerer load_story_answerer(const std::filesystem::path& place, WeightForm form) {
  return std::get<StoryAnswerer>(load_task(place, Task::answer, form));
}

void save_model(const StoryAnswerer& answerer, const std::filesystem::path& folder) {
  StoryAnswererKeys keys{.tokenizer = write_tokenizer(*answerer.tokenizer, folder)};
  save_folder(*answerer.model, std::move(keys), {}, folder);
}

}  // namespace heed

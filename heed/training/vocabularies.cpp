#include "heed/training/vocabularies.h"

#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/packed_pairs.h"
#include "heed/data/packed_text.h"
#include "heed/data/parallel_text.h"
#include "heed/data/question_text.h"
#include "heed/text/characters.h"
#include "heed/text/sentence_piece.h"
#include "heed/text/words.h"

namespace heed {
namespace {

using Paths = std::vector<std::filesystem::path>;

template <typename Text>
std::shared_ptr<const Tokenizer> train_pieces(const VocabularyConfig& config, const Text& text) {
  return parse_tokenizer(
      train_sentence_piece(text, {.size = config.size,
                                  .model_type = config.model_type,
                                  .character_coverage = config.character_coverage,
                                  .normalization = config.normalization}),
      "the vocabulary made from the training set");
}

std::shared_ptr<const Tokenizer> train_on(const VocabularyConfig& config, const Paths& paths) {
  const VocabularyOptions options{.size = config.size, .min_count = config.min_count};
  switch (config.kind) {
    case VocabularyKind::words:
      return std::make_shared<Words>(count_words(paths, options));
    case VocabularyKind::characters:
      return std::make_shared<Characters>(count_characters(paths, options));
    case VocabularyKind::sentencepiece:
      break;
  }
  return train_pieces(config, paths);
}

// The same for sentences, as if they were the lines of a file.
std::shared_ptr<const Tokenizer> train_on(const VocabularyConfig& config,
                                          const std::vector<std::string>& sentences) {
  const VocabularyOptions options{.size = config.size, .min_count = config.min_count};
  if (config.kind == VocabularyKind::words) {
    TokenCounter counter;
    for (const std::string& sentence : sentences) {
      for (const std::string_view word : split_at_spaces(sentence)) counter.add(word);
    }
    return std::make_shared<Words>(counter.vocabulary(options));
  }
  if (config.kind == VocabularyKind::characters) {
    return std::make_shared<Characters>(
        count_characters(fmt::format("{}\n", fmt::join(sentences, "\n")), options));
  }
  return train_pieces(config, sentences);
}

// The columns of a file with tabs, each a list of sentences.
TokenizerPair train_on_table(const TrainConfig& config) {
  std::vector<std::string> source, target;
  ParallelText text(config.train_sets[0], TextColumns{}, {.on_bad = config.on_bad});
  for (TextPair pair; text.next(pair);) {
    source.emplace_back(pair.source);
    target.emplace_back(pair.target);
  }
  if (!config.vocabulary.shared) {
    return {train_on(config.vocabulary, source), train_on(config.vocabulary, target)};
  }
  source.insert(source.end(), target.begin(), target.end());
  const auto both = train_on(config.vocabulary, source);
  return {both, both};
}

}  // namespace

TokenizerPair make_tokenizers(const TrainConfig& config) {
  if (config.vocabs.empty() && is_packed(config.train_sets.at(0))) {
    const PackedPairs corpus(config.train_sets[0]);
    return {corpus.source(), corpus.target()};
  }
  if (!config.vocabs.empty()) {
    const std::shared_ptr<const Tokenizer> source = load_tokenizer(config.vocabs.front());
    if (config.vocabs.size() == 1 || config.vocabs[0] == config.vocabs[1]) return {source, source};
    return {source, load_tokenizer(config.vocabs.back())};
  }
  if (config.train_sets.size() == 1) return train_on_table(config);
  const Paths source{config.train_sets.at(0)}, target{config.train_sets.at(1)};
  if (!config.vocabulary.shared) {
    return {train_on(config.vocabulary, source), train_on(config.vocabulary, target)};
  }
  const auto both = train_on(config.vocabulary, Paths{source[0], target[0]});
  return {both, both};
}

std::shared_ptr<const Tokenizer> make_tokenizer(const TrainConfig& config, ReadTexts read) {
  if (!config.vocabs.empty()) return load_tokenizer(config.vocabs.front());
  const std::filesystem::path path = config.train_sets.at(0);
  if (is_packed_text(path)) return PackedText(path).tokenizer();
  return read != nullptr ? train_on(config.vocabulary, read(path))
                         : train_on(config.vocabulary, Paths{path});
}

std::shared_ptr<const Tokenizer> make_tokenizer(const TrainConfig& config,
                                                const std::vector<std::string>& texts) {
  return config.vocabs.empty() ? train_on(config.vocabulary, texts)
                               : load_tokenizer(config.vocabs.front());
}

std::shared_ptr<const Tokenizer> make_word_list(const TrainConfig& config,
                                                FunctionRef<void(TokenCounter& counter)> count) {
  if (!config.vocabs.empty()) {
    std::shared_ptr<const Tokenizer> given = load_tokenizer(config.vocabs.front());
    check_words(*given);
    return given;
  }
  TokenCounter counter;
  count(counter);
  return std::make_shared<Words>(counter.vocabulary(
      {.size = config.vocabulary.size, .min_count = config.vocabulary.min_count}));
}

}  // namespace heed

#include "heed/text/words.h"

#include <algorithm>
#include <utility>

#include "heed/io/lines.h"
#include "heed/text/tokenizer_file.h"

namespace heed {
namespace {

constexpr std::string_view kUsualJoint = "@@";

bool has_joint(std::string_view token, std::string_view joint) {
  return !joint.empty() && token.ends_with(joint);
}

}  // namespace

std::vector<std::string_view> split_at_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpaces);
    if (begin == text.npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string joint_of(const Vocabulary& vocabulary) {
  const auto tokens = vocabulary.tokens();
  // A token that is only the mark may be a word of the text.
  const bool used = std::any_of(tokens.begin(), tokens.end(), [](const TokenCount& entry) {
    return entry.token.size() > kUsualJoint.size() && has_joint(entry.token, kUsualJoint);
  });
  return std::string(used ? kUsualJoint : "");
}

VocabularyTokenizer::VocabularyTokenizer(Vocabulary vocabulary, std::string joint)
    : vocabulary_(std::move(vocabulary)), joint_(std::move(joint)) {}

// Tokens that end in the joint, if there is one, are joined with the next, as sed 's/@@ //g' does.
std::string VocabularyTokenizer::decode_with(std::span<const std::int32_t> ids,
                                             std::span<const std::string> words) const {
  std::string text;
  bool joined = true;
  for (const std::int32_t id : ids) {
    const std::int64_t word = id - size();
    const bool is_word = word >= 0 && word < std::ssize(words);
    if (!is_word && vocabulary_.is_silent(id)) continue;
    std::string_view token =
        is_word ? words[static_cast<std::size_t>(word)] : vocabulary_.token(id);
    if (!joined) text += ' ';
    joined = has_joint(token, joint_);
    if (joined) token.remove_suffix(joint_.size());
    text += token;
  }
  return text;
}

bool VocabularyTokenizer::continues_word(std::int32_t id) const {
  return has_joint(vocabulary_.token(id), joint_);
}

Words::Words(Vocabulary words) : VocabularyTokenizer(words, joint_of(words)) {}

Words::Words(Vocabulary words, std::string joint)
    : VocabularyTokenizer(std::move(words), std::move(joint)) {}

std::vector<std::int32_t> Words::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  for (const std::string_view word : split_at_spaces(text)) ids.push_back(vocabulary().id_of(word));
  return ids;
}

std::vector<std::string> Words::parts(std::string_view text) const {
  const std::vector<std::string_view> words = split_at_spaces(text);
  return {words.begin(), words.end()};
}

std::vector<Tokenizer::File> Words::files() const {
  TokenizerFile file = tokenizer_file(TokenizerKind::words, vocabulary());
  file.joint = joint();
  return {{"tokenizer.heed.json", tokenizer_text(file)}};
}

Vocabulary count_words(std::span<const std::filesystem::path> paths,
                       const VocabularyOptions& options) {
  TokenCounter counter;
  for (const std::filesystem::path& path : paths) {
    io::LineReader reader(path);
    for (std::string line; reader.next(line);) {
      for (const std::string_view word : split_at_spaces(line)) counter.add(word);
    }
  }
  return counter.vocabulary(options);
}

}  // namespace heed

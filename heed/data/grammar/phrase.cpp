#include "heed/data/grammar/phrase.h"

#include <algorithm>
#include <cctype>

#include "heed/base/error.h"
#include "heed/data/shuffle.h"

namespace heed::grammar {
namespace {

Words pieces(std::string_view text, int link, bool sure) {
  Words all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    all.push_back({std::string(text.substr(0, end)), {link}, sure});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// Counts the bytes that begin a UTF-8 character.
std::int32_t characters(std::string_view text) {
  return static_cast<std::int32_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool share_link(const Piece& a, const Piece& b) {
  return std::find_first_of(a.links.begin(), a.links.end(), b.links.begin(), b.links.end()) !=
         a.links.end();
}

// Marks and "'s" at the ends of words become words.
Words split_marks(const Words& all) {
  Words split;
  for (const Piece& piece : all) {
    split.push_back(piece);
    std::string& text = split.back().text;
    std::size_t end = text.size();
    while (end > 0 && std::string_view(".,?").find(text[end - 1]) != std::string_view::npos) --end;
    const std::string marks = text.substr(end);
    text.resize(end);
    if (text.ends_with("'s")) {
      text.resize(end - 2);
      split.push_back({"'s", piece.links, false});
    }
    for (const char mark : marks) split.push_back({std::string(1, mark), piece.links, false});
  }
  return split;
}

}  // namespace

Words words(std::string_view text, int link) { return pieces(text, link, true); }

Words weak(std::string_view text, int link) { return pieces(text, link, false); }

Words article(const Words& following, int link, bool sure) {
  HEED_ASSERT(!following.empty() && !following[0].text.empty());
  const bool vowel = std::string_view("aeiou").find(following[0].text[0]) != std::string_view::npos;
  return pieces(vowel ? "an" : "a", link, sure);
}

bool same_text(const Words& a, const Words& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Piece& x, const Piece& y) { return x.text == y.text; });
}

Speaker::Speaker(std::uint64_t seed, std::int64_t sentence, int rare_names)
    : random_(data_stream(seed, DataPurpose::sentences, sentence)), rare_names_(rare_names) {}

int Speaker::below(int bound) {
  return static_cast<int>(random_.below(next_++, static_cast<std::uint32_t>(bound)));
}

Phrase Speaker::same(std::string_view english, std::string_view chinese) {
  const int l = link();
  return {words(english, l), words(chinese, l)};
}

GrammarPair finish(Phrase sentence, char mark, bool spaced) {
  HEED_ASSERT(!sentence.english.empty() && !sentence.chinese.empty());
  std::string& first = sentence.english.front().text;
  first[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(first[0])));
  sentence.english.back().text += mark;
  if (spaced) sentence.english = split_marks(sentence.english);
  sentence.chinese.push_back({mark == '?' ? "？" : "。", sentence.english.back().links, false});

  GrammarPair pair;
  for (const Piece& word : sentence.english) {
    if (!pair.english.empty()) pair.english += ' ';
    pair.english += word.text;
  }
  std::int32_t character = 0;
  for (const Piece& piece : sentence.chinese) {
    if (spaced && !pair.chinese.empty()) pair.chinese += ' ';
    pair.chinese += piece.text;
    const std::int32_t units = spaced ? 1 : characters(piece.text);
    for (const std::int32_t end = character + units; character < end; ++character) {
      for (std::size_t i = 0; i < sentence.english.size(); ++i) {
        const Piece& word = sentence.english[i];
        if (!share_link(word, piece)) continue;
        pair.links.push_back({static_cast<std::int32_t>(i), character, word.sure && piece.sure});
      }
    }
  }
  std::sort(pair.links.begin(), pair.links.end(), [](const auto& a, const auto& b) {
    return std::pair(a.word, a.character) < std::pair(b.word, b.character);
  });
  return pair;
}

}  // namespace heed::grammar

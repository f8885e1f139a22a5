#include "heed/evaluation/alignment.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "heed/base/error.h"
#include "heed/io/input.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::int32_t kMaxSentence = 1'000'000;  // limits memory for a hostile number

struct Place {
  std::string_view source;
  std::size_t line = 0;
};

template <typename... Args>
[[noreturn]] void fail_at(const Place& place, fmt::format_string<Args...> format, Args&&... args) {
  fail("[alignments] {}:{}: {}", place.source, place.line,
       fmt::format(format, std::forward<Args>(args)...));
}

// Reads an integer at the start of a word and removes it.
std::optional<std::int32_t> take_number(std::string_view& word) {
  std::int32_t value = 0;
  if (word.empty() || word.front() == '-') return std::nullopt;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc()) return std::nullopt;
  word.remove_prefix(static_cast<std::size_t>(end - word.data()));
  return value;
}

std::optional<std::int32_t> whole_number(std::string_view word) {
  const std::optional<std::int32_t> value = take_number(word);
  return word.empty() ? value : std::nullopt;
}

std::int32_t position(std::int32_t number, std::int32_t first, const Place& place) {
  if (number < first) {
    fail_at(place, "a word has number {}, but numbers start at {}: is the file numbered from 0?",
            number, first);
  }
  return number - first;
}

// "3-4", "3?4", "3p4", "3-4?"
Link pharaoh_link(std::string_view word, std::int32_t first, const Place& place) {
  std::string_view rest = word;
  const std::optional<std::int32_t> source = take_number(rest);
  const char mark = rest.empty() ? '\0' : rest.front();
  if (!rest.empty()) rest.remove_prefix(1);
  const std::optional<std::int32_t> target = take_number(rest);
  const bool known = mark == '-' || mark == '?' || mark == 'p';
  if (!source || !known || !target || !(rest.empty() || rest == "?")) {
    fail_at(place, "{} is not a link: write 0-1, or 0?1 for a possible one", io::in_quotes(word));
  }
  return {position(*source, first, place), position(*target, first, place),
          mark == '-' && rest.empty()};
}

struct NumberedLink {
  std::int32_t sentence = 0;
  Link link;
};

// "17 3 4 S"
NumberedLink numbered_link(const std::vector<std::string_view>& words, std::int32_t first,
                           const Place& place) {
  const auto number = [&](std::size_t i) {
    return i < words.size() ? whole_number(words[i]) : std::nullopt;
  };
  const auto sentence = number(0), source = number(1), target = number(2);
  const bool mark = words.size() < 4 || words[3] == "S" || words[3] == "P";
  if (!sentence || !source || !target || !mark || words.size() > 5) {
    fail_at(place, "not a link: write sentence, source word, target word, S or P");
  }
  if (*sentence < 1 || *sentence > kMaxSentence) {
    fail_at(place, "there is no sentence {}: they are numbered from 1", *sentence);
  }
  return {*sentence,
          {position(*source, first, place), position(*target, first, place),
           words.size() < 4 || words[3] == "S"}};
}

bool before(const Link& a, const Link& b) {
  return std::tie(a.source, a.target) < std::tie(b.source, b.target);
}

// Sorts the links and merges duplicates; a merged link is sure if any of its links is.
void tidy(Links& links) {
  const auto key = [](const Link& link) {
    return std::tuple(link.source, link.target, !link.sure);
  };
  std::sort(links.begin(), links.end(),
            [&](const Link& a, const Link& b) { return key(a) < key(b); });
  const auto same_pair = [](const Link& a, const Link& b) {
    return a.source == b.source && a.target == b.target;
  };
  links.erase(std::unique(links.begin(), links.end(), same_pair), links.end());
}

std::int64_t count_sure(const Links& links) {
  return std::count_if(links.begin(), links.end(), [](const Link& link) { return link.sure; });
}

double ratio(std::int64_t part, std::int64_t whole, double if_none) {
  return whole == 0 ? if_none : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

std::vector<Links> parse_alignments(std::string_view text, std::string_view source,
                                    std::int32_t first) {
  HEED_CHECK(first == 0 || first == 1, "[alignments] words are numbered from {}: must be 0 or 1",
             first);
  const std::vector<std::string_view> lines = lines_of(text);
  // The first word of the file is a number in one format and a link in the other.
  std::optional<bool> numbered;
  std::vector<Links> sentences;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Place place{source, i + 1};
    const std::vector<std::string_view> words = unicode::split_words(lines[i]);
    if (!numbered && !words.empty()) numbered = whole_number(words[0]).has_value();
    if (numbered.value_or(false)) {
      if (words.empty()) continue;
      const NumberedLink found = numbered_link(words, first, place);
      const auto sentence = static_cast<std::size_t>(found.sentence);
      if (sentences.size() < sentence) sentences.resize(sentence);
      sentences[sentence - 1].push_back(found.link);
    } else {
      Links links;
      for (const std::string_view word : words) links.push_back(pharaoh_link(word, first, place));
      sentences.push_back(std::move(links));
    }
  }
  for (Links& links : sentences) tidy(links);
  return sentences;
}

std::vector<Links> read_alignments(const std::filesystem::path& path, std::int32_t first) {
  return parse_alignments(io::read_input(path, kMaxBytes), path.string(), first);
}

AlignmentScore score_alignments(std::span<const Links> gold, std::span<const Links> found) {
  HEED_CHECK(gold.size() == found.size(),
             "[alignments] the gold has {} sentences, the alignment to score has {}: they must be "
             "parallel",
             gold.size(), found.size());
  AlignmentScore score;
  std::int64_t sure_hits = 0, hits = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    score.links += static_cast<std::int64_t>(found[i].size());
    score.possible += static_cast<std::int64_t>(gold[i].size());
    score.sure += count_sure(gold[i]);
    for (const Link& link : gold[i]) {
      const bool hit = std::binary_search(found[i].begin(), found[i].end(), link, before);
      hits += hit ? 1 : 0;
      sure_hits += hit && link.sure ? 1 : 0;
    }
  }
  // If there is nothing to find and nothing was found, precision and recall are 1.
  score.precision = ratio(hits, score.links, 1.0);
  score.recall = ratio(sure_hits, score.sure, 1.0);
  score.error_rate = 1.0 - ratio(sure_hits + hits, score.links + score.sure, 1.0);
  return score;
}

}  // namespace heed::evaluation

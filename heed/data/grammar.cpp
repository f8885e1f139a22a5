#include "heed/data/grammar.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/grammar/actions.h"
#include "heed/data/grammar/facts.h"
#include "heed/data/grammar/people.h"
#include "heed/io/file.h"

namespace heed {
namespace {

using grammar::Clause;
using grammar::join;
using grammar::Phrase;
using grammar::Speaker;
using grammar::Words;

// "Tom bought three cups, but Mary sold a horse."
Clause contrast(Speaker& speaker) {
  Clause first = short_action(speaker);
  const Clause second = short_action(speaker);
  first.phrase.english.back().text += ',';
  const Words pause = grammar::weak("，", first.phrase.english.back().links[0]);
  const Phrase but = speaker.same("but", "但是");
  return {{join(first.phrase.english, but.english, second.phrase.english),
           join(first.phrase.chinese, pause, but.chinese, second.phrase.chinese)},
          '.'};
}

// "Mary knows that Tom bought three cups."
Clause report(Speaker& speaker) {
  struct Report {
    std::string_view base, third, chinese;
  };
  constexpr Report kReports[] = {
      {"know", "knows", "知道"}, {"think", "thinks", "觉得"}, {"say", "says", "说"}};
  const grammar::Person who = anybody(speaker);
  const Report& verb = speaker.pick(kReports);
  const bool third = who.agreement == grammar::Agreement::third;
  const Phrase says = speaker.same(third ? verb.third : verb.base, verb.chinese);
  const Clause what = short_action(speaker);
  return {{join(who.english, says.english, grammar::weak("that", says.english[0].links[0]),
                what.phrase.english),
           join(who.chinese, says.chinese, what.phrase.chinese)},
          '.'};
}

struct Pattern {
  int percent;
  Clause (*make)(Speaker&);
};

constexpr Pattern kPatterns[] = {
    {44, grammar::action},  {6, grammar::giving},
    {10, grammar::journey}, {8, grammar::comparison},
    {4, grammar::quality},  {7, grammar::existence},
    {4, grammar::location}, {3, grammar::possession},
    {5, grammar::weather},  {5, grammar::numbers_and_dates},
    {2, contrast},          {2, report},
};

}  // namespace

std::string pharaoh(const std::vector<GrammarPair::Link>& links) {
  std::string text;
  for (const GrammarPair::Link& link : links) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}{}{}", link.word, link.sure ? '-' : 'p', link.character);
  }
  return text;
}

GrammarPair grammar_sentence(std::uint64_t seed, std::int64_t number, const GrammarForm& form) {
  Speaker speaker(seed, number, form.rare_names);
  int chosen = speaker.below(100);
  for (const Pattern& pattern : kPatterns) {
    chosen -= pattern.percent;
    if (chosen >= 0) continue;
    Clause clause = pattern.make(speaker);
    return finish(std::move(clause.phrase), clause.mark, form.spaced);
  }
  HEED_ASSERT(false);
  return {};
}

GrammarCorpus grammar_corpus(const GrammarOptions& options) {
  HEED_CHECK(options.sentences >= 0 && options.held_out >= 0,
             "[grammar] {} sentences and {} held out: neither may be negative", options.sentences,
             options.held_out);
  GrammarCorpus corpus;
  std::unordered_set<std::string> seen;
  std::int64_t number = 0;
  const auto fill = [&](std::vector<GrammarPair>& pairs, std::int64_t count) {
    pairs.reserve(static_cast<std::size_t>(count));
    while (static_cast<std::int64_t>(pairs.size()) < count) {
      GrammarPair pair = grammar_sentence(options.seed, number++, options.form);
      if (seen.insert(pair.english).second) pairs.push_back(std::move(pair));
    }
  };
  // Held-out sentences come first, so that they do not depend on the number of training sentences.
  fill(corpus.held_out, options.held_out);
  fill(corpus.training, options.sentences);
  return corpus;
}

void write_pairs(const std::filesystem::path& prefix, std::span<const GrammarPair> pairs) {
  const std::string name = prefix.string();
  io::AtomicFile english(name + ".en"), chinese(name + ".zh"), align(name + ".align");
  for (const GrammarPair& pair : pairs) {
    english.write(pair.english + '\n');
    chinese.write(pair.chinese + '\n');
    align.write(pharaoh(pair.links) + '\n');
  }
  for (io::AtomicFile* file : {&english, &chinese, &align}) file->commit();
}

}  // namespace heed

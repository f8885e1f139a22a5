#include "python/bindings/corpus.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/data/grammar.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

nb::list pairs_of(const std::vector<GrammarPair>& pairs) {
  nb::list list;
  for (const GrammarPair& pair : pairs) {
    list.append(nb::make_tuple(to_str(pair.english), to_str(pair.chinese)));
  }
  return list;
}

}  // namespace

void bind_corpus(nb::module_& m) {
  constexpr const char* kPairs = "Tuples of an English sentence and its Chinese translation.";
  nb::class_<GrammarCorpus>(m, "GrammarCorpus", "The result of heed.grammar_corpus.")
      .def_prop_ro(
          "training", [](const GrammarCorpus& self) { return pairs_of(self.training); },
          nb::for_getter(nb::sig("def training(self, /) -> list[tuple[str, str]]")), kPairs)
      .def_prop_ro(
          "held_out", [](const GrammarCorpus& self) { return pairs_of(self.held_out); },
          nb::for_getter(nb::sig("def held_out(self, /) -> list[tuple[str, str]]")), kPairs)
      .def(
          "write",
          [](const GrammarCorpus& self, nb::handle prefix) {
            const std::filesystem::path path = path_of("prefix", prefix);
            write_pairs(path, self.training);
            if (!self.held_out.empty()) write_pairs(path.string() + ".test", self.held_out);
          },
          nb::arg("prefix"), nb::sig("def write(self, prefix: str | os.PathLike[str]) -> None"),
          "Writes PREFIX.en, PREFIX.zh and PREFIX.align, a line a sentence, and the held-out ones "
          "to PREFIX.test.en and so on.")
      .def("__repr__", [](const GrammarCorpus& self) {
        return fmt::format("<heed.GrammarCorpus: {} sentences and {} held out>",
                           self.training.size(), self.held_out.size());
      });
  m.def(
      "grammar_corpus",
      [](std::int64_t sentences, std::int64_t held_out, std::uint64_t seed) {
        HEED_CHECK(sentences >= 0 && held_out >= 0,
                   "[grammar_corpus] {} sentences, {} held out: neither can be below 0", sentences,
                   held_out);
        const Unlocked released;
        return grammar_corpus({.sentences = sentences, .held_out = held_out, .seed = seed});
      },
      nb::arg("sentences") = GrammarOptions{}.sentences, nb::kw_only(),
      nb::arg("held_out") = GrammarOptions{}.held_out, nb::arg("seed") = GrammarOptions{}.seed,
      "English sentences and their Chinese translations from a small grammar, all different, to "
      "train and evaluate a translator in a minute.");
}

}  // namespace heed::python

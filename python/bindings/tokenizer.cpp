// heed.Tokenizer: converts text to the token numbers of a vocabulary and back.
#include "heed/text/tokenizer.h"

#include <fmt/format.h>

#include "python/bindings/model_results.h"
#include "python/bindings/tree.h"

namespace heed::python {

void bind_tokenizer(nb::module_& m) {
  const auto special = [](std::int32_t SpecialTokens::*member) {
    return [member](const PyTokenizer& self) { return self.tokenizer->special().*member; };
  };
  nb::class_<PyTokenizer>(
      m, "Tokenizer",
      "Converts text to the token numbers of a vocabulary and back: a SentencePiece model, a "
      "tokenizer file of heed's, or a list of words.")
      .def(
          "__init__",
          [](PyTokenizer* self, nb::handle path) {
            new (self) PyTokenizer{load_tokenizer(path_of("path", path))};
          },
          nb::arg("path"), nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"))
      .def(
          "encode",
          [](const PyTokenizer& self, nb::handle text) {
            return self.tokenizer->encode(text_of("text", text));
          },
          nb::arg("text"), nb::sig("def encode(self, text: str) -> list[int]"),
          "The tokens of a text, without begin and end.")
      .def(
          "decode",
          [](const PyTokenizer& self, const std::vector<std::int32_t>& ids) {
            return to_str(self.tokenizer->decode(ids));
          },
          nb::arg("ids"), "The text of tokens; begin, end and padding are left out.")
      .def(
          "pieces",
          [](const PyTokenizer& self, nb::handle text) {
            nb::list pieces;
            for (const std::int32_t id : self.tokenizer->encode(text_of("text", text))) {
              pieces.append(to_str(self.tokenizer->piece(id)));
            }
            return pieces;
          },
          nb::arg("text"), nb::sig("def pieces(self, text: str) -> list[str]"),
          "The tokens of a text as they are shown: '▁dog', 'wor@@'.")
      .def_prop_ro(
          "kind", [](const PyTokenizer& self) { return to_str(self.tokenizer->kind()); },
          "'sentencepiece', 'words', 'characters' or 'subword_nmt'.")
      .def_prop_ro("unknown", special(&SpecialTokens::unknown))
      .def_prop_ro("begin", special(&SpecialTokens::begin))
      .def_prop_ro("end", special(&SpecialTokens::end))
      .def_prop_ro("padding", special(&SpecialTokens::padding))
      .def("__len__", [](const PyTokenizer& self) { return self.tokenizer->size(); })
      .def("__repr__", [](const PyTokenizer& self) {
        return fmt::format("<heed.Tokenizer: {}, {} tokens>", self.tokenizer->kind(),
                           self.tokenizer->size());
      });
}

}  // namespace heed::python

// heed.Tokenizer: converts text to the token numbers of a vocabulary and back.
#include "heed/text/tokenizer.h"

#include <fmt/format.h>

#include <filesystem>

#include "heed/base/error.h"
#include "heed/text/pipeline/hf_folder.h"
#include "heed/text/pipeline/hf_tokenizer.h"
#include "python/bindings/model_results.h"
#include "python/bindings/tree.h"

namespace heed::python {
namespace {

const HfTokenizer& hf_tokenizer(const PyTokenizer& self) {
  const auto* const tokenizer = dynamic_cast<const HfTokenizer*>(self.tokenizer.get());
  HEED_CHECK(tokenizer != nullptr,
             "[tokenizer] offsets are given by tokenizers of Hugging Face, not by kind {}",
             self.tokenizer->kind());
  return *tokenizer;
}

// Spans in characters, as Python counts them.
nb::list offsets_of(std::string_view text, const Encoding& encoding) {
  std::vector<std::uint32_t> characters(text.size() + 1);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    count += begins ? 1 : 0;
    characters[i] = count - 1;
  }
  characters[text.size()] = count;
  nb::list offsets;
  for (const TextSpan& span : encoding.spans) {
    offsets.append(nb::make_tuple(characters[span.begin], characters[span.end]));
  }
  return offsets;
}

}  // namespace

void bind_tokenizer(nb::module_& m) {
  const auto special = [](std::int32_t SpecialTokens::*member) {
    return [member](const PyTokenizer& self) { return self.tokenizer->special().*member; };
  };
  nb::class_<PyTokenizer>(
      m, "Tokenizer",
      "Converts text to the token numbers of a vocabulary and back: a SentencePiece model, a "
      "tokenizer file of heed's, a list of words, a tokenizer.json, or a folder of Hugging Face.")
      .def(
          "__init__",
          [](PyTokenizer* self, nb::handle path) {
            const std::filesystem::path place = path_of("path", path);
            const bool is_folder = std::filesystem::is_directory(place);
            new (self)
                PyTokenizer{is_folder ? read_hf_tokenizer(place)
                                      : std::shared_ptr<const Tokenizer>(load_tokenizer(place))};
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
          "encode_with_offsets",
          [](const PyTokenizer& self, nb::handle text, bool with_special) {
            const std::string bytes(text_of("text", text));
            const Encoding encoding = hf_tokenizer(self).encode_with_spans(bytes, with_special);
            return nb::make_tuple(encoding.ids, offsets_of(bytes, encoding));
          },
          nb::arg("text"), nb::kw_only(), nb::arg("special") = true,
          nb::sig("def encode_with_offsets(self, text: str, *, special: bool = True) -> "
                  "tuple[list[int], list[tuple[int, int]]]"),
          "The tokens of a text and the characters that each stands for. With special, the tokens "
          "that the model expects around the text are added.")
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
          "'sentencepiece', 'words', 'characters', 'subword_nmt', 'huggingface' or "
          "'mapped_pieces'.")
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

// heed.SentenceEncoder and heed.MaskedModel.
#include <fmt/format.h>

#include "heed/generation/embed.h"
#include "heed/generation/fill.h"
#include "heed/ops/view.h"
#include "python/bindings/def_text_model.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/options.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

// The options of vectors, and of the batches.
struct EncodeOptions {
  EmbedOptions embed = {};
  std::int64_t batch_tokens = kBatchTokens;

  void fields(io::Fields& field) {
    embed.fields(field);
    field("batch_tokens", batch_tokens, "tokens of a batch, including padding",
          {.min = 1, .max = 1 << 30});
  }
  void validate() const { embed.validate(); }
};

void bind_sentence_encoder(nb::module_& m) {
  EncodeOptions usual;
  const io::Fields fields(usual);
  const std::string encode =
      signature("def encode(self, texts: str | collections.abc.Iterable[str], *", fields,
                ") -> numpy.ndarray");
  const std::string encode_help = help(
      "The vectors of texts, f32 [N, E]; of one text, [E].\n\n"
      "The vector of a text does not depend on the others.",
      fields);
  nb::class_<TextEmbedder> type(
      m, "SentenceEncoder",
      "A sentence encoder, which turns texts into vectors, from its folder or "
      "from one of Hugging Face.\n\nSeveral threads may use one at once.");
  def_text_model<TextEmbedder, load_text_embedder>(type);
  type.def(
          "encode",
          [](const TextEmbedder& self, nb::handle texts, const nb::kwargs& options) {
            const EncodeOptions how = options_of(EncodeOptions{}, "encode", options);
            const bool is_one = nb::isinstance<nb::str>(texts);
            const std::vector<std::string> all =
                is_one ? std::vector<std::string>{text_of("texts", texts)}
                       : texts_of("texts", texts);
            Tensor vectors = [&] {
              const Unlocked released;
              return embed_texts(self, all, how.embed, how.batch_tokens,
                                 [check = InterruptCheck()]() mutable { check(); });
            }();
            return to_numpy(is_one ? reshape(vectors, {vectors.size(1)}) : vectors);
          },
          nb::arg("texts"), nb::arg("options"), nb::sig(encode.c_str()), encode_help.c_str())
      .def_prop_ro(
          "size", [](const TextEmbedder& self) { return self.model->vector_size(); },
          "The number of features of a vector.")
      .def("__repr__", [](const TextEmbedder& self) {
        return fmt::format("<heed.SentenceEncoder: {} parameters, vectors of {} features>",
                           self.model->parameter_count(), self.model->vector_size());
      });
}

std::vector<FilledText> fill_all(const TextFiller& filler, const std::vector<std::string>& texts,
                                 const FillOptions& options) {
  const Unlocked released;
  return fill_texts(filler, texts, options, [check = InterruptCheck()]() mutable { check(); });
}

// The tokens of each masked position with their probabilities.
nb::list masks_of(const FilledText& filled) {
  nb::list masks;
  for (const std::vector<Filling>& fillings : filled.masks) {
    nb::dict tokens;
    for (const Filling& filling : fillings) {
      const nb::object token = to_str(filling.token);
      if (!tokens.contains(token)) tokens[token] = filling.probability;
    }
    masks.append(tokens);
  }
  return masks;
}

void bind_masked_model(nb::module_& m) {
  FillOptions usual;
  const io::Fields fields(usual);
  const std::string one =
      signature("def fill(self, text: str, *", fields, ") -> list[dict[str, float]]");
  const std::string batch =
      signature("def fill_batch(self, texts: collections.abc.Iterable[str], *", fields,
                ") -> list[list[dict[str, float]]]");
  const std::string help_text = help(
      "For each masked position of a text, the most probable tokens with their probabilities, most "
      "probable first.\n\nA token that is written like a more probable one is "
      "left out.",
      fields);
  nb::class_<TextFiller> type(m, "MaskedModel",
                              "A model of masked tokens, from its folder or from one of Hugging "
                              "Face.\n\nSeveral threads may use one at once.");
  def_text_model<TextFiller, load_text_filler>(type);
  type.def(
          "fill",
          [](const TextFiller& self, nb::handle text, const nb::kwargs& options) {
            return masks_of(fill_all(self, {text_of("text", text)},
                                     options_of(FillOptions{}, "fill", options))[0]);
          },
          nb::arg("text"), nb::arg("options"), nb::sig(one.c_str()), help_text.c_str())
      .def(
          "fill_batch",
          [](const TextFiller& self, nb::handle texts, const nb::kwargs& options) {
            nb::list results;
            for (const FilledText& filled :
                 fill_all(self, texts_of("texts", texts),
                          options_of(FillOptions{}, "fill_batch", options))) {
              results.append(masks_of(filled));
            }
            return results;
          },
          nb::arg("texts"), nb::arg("options"), nb::sig(batch.c_str()),
          "The same for several texts; options as in fill.")
      .def_prop_ro(
          "mask", [](const TextFiller& self) { return to_str(self.tokenizer->piece(self.mask)); },
          nb::for_getter(nb::sig("def mask(self, /) -> str")),
          "The token that stands for a masked one in texts.")
      .def("__repr__", [](const TextFiller& self) {
        return fmt::format("<heed.MaskedModel: {} parameters, {} tokens>",
                           self.model->parameter_count(), self.tokenizer->size());
      });
}

}  // namespace

void bind_encoders(nb::module_& m) {
  bind_sentence_encoder(m);
  bind_masked_model(m);
}

}  // namespace heed::python

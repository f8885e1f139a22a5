// The members that all classes of text models with one tokenizer have: the constructor from a
// folder, attention, tokenizer and config.
#pragma once

#include <filesystem>
#include <new>
#include <string>

#include "heed/generation/model_folder.h"
#include "heed/plot/model_attention.h"
#include "python/bindings/load_options.h"
#include "python/bindings/model_results.h"
#include "python/bindings/options.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {

/// Defines them; `load` reads a folder.
template <typename Loaded, Loaded (*load)(const std::filesystem::path&, WeightForm)>
void def_text_model(nb::class_<Loaded>& type) {
  const std::string constructor = constructor_signature();
  type.def(
      "__init__",
      [](Loaded* self, nb::handle path, const nb::kwargs& options) {
        const std::filesystem::path folder = path_of("path", path);
        const PackedForm form = form_of("load", options);
        const Unlocked released;
        new (self) Loaded(load(folder, form));
      },
      nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()));
  type.def(
      "attention",
      [](const Loaded& self, nb::handle text) {
        const std::string read = text_of("text", text);
        const Unlocked released;
        return ModelAttention{.view = plot::attention_of(self, read)};
      },
      nb::arg("text"), nb::sig("def attention(self, text: str) -> Attention"),
      "The attention weights of every layer and head for a text.");
  type.def_prop_ro("tokenizer", [](const Loaded& self) { return PyTokenizer{self.tokenizer}; });
  type.def_prop_ro(
      "config",
      [](const Loaded& self) {
        ModelChoice config = self.model->choice();
        return object_of(io::Fields(config).write());
      },
      nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
      "The config of the model.");
}

}  // namespace heed::python

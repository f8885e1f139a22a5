// The options of heed.load and of the constructors of text models.
#pragma once

#include "heed/generation/model_folder.h"
#include "python/bindings/options.h"

namespace heed::python {

struct LoadModelOptions {
  PackedForm quantize = PackedForm::f32;

  void fields(io::Fields& field) {
    field("quantize", quantize,
          "weights in fewer bits: int4, int8 or bf16; none: as they are stored, else f32");
  }
};

/// The form of weights that keyword arguments ask for.
inline PackedForm form_of(const char* function, const nb::kwargs& options) {
  return options_of(LoadModelOptions{}, function, options).quantize;
}

/// "def …, *, quantize: … = 'none') -> …", from the texts before and after the options.
inline std::string load_signature(const std::string& before, const std::string& after) {
  LoadModelOptions options;
  return signature(before, io::Fields(options), after);
}

/// Of a constructor.
inline std::string constructor_signature() {
  return load_signature("def __init__(self, path: str | os.PathLike[str], *", ") -> None");
}

}  // namespace heed::python

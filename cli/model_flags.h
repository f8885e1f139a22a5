// --model, --quantize and --cpu-threads of the verbs that use a model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/filter_io.h"
#include "heed/base/threads.h"
#include "heed/generation/model_folder.h"

namespace heed::cli {

/// --quantize, with the names of the forms of weights.
struct QuantizeFlag {
  std::string name{io::enum_name(PackedForm::f32)};

  PackedForm form() const {
    for (const auto& known : kernels::enum_names(PackedForm{})) {
      if (known.name == name) return known.value;
    }
    return PackedForm::f32;
  }
};

inline void add_quantize_flag(CLI::App& verb, QuantizeFlag& flag) {
  std::vector<std::string> names;
  for (const auto& known : kernels::enum_names(PackedForm{})) names.emplace_back(known.name);
  verb.add_option("--quantize", flag.name,
                  "weights in fewer bits: int4, int8 or bf16; none: as they are stored, else f32")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
}

struct ModelFlags {
  std::string folder;
  QuantizeFlag quantize;
  int threads = 0;

  /// The form in which weights are packed.
  PackedForm form() const { return quantize.form(); }
  void set_threads() const {
    if (threads > 0) set_num_threads(threads);
  }
};

inline void add_model_flags(CLI::App& verb, ModelFlags& flags, const std::string& what) {
  verb.add_option("-m,--model", flags.folder, what)->required();
  add_quantize_flag(verb, flags.quantize);
  add_thread_flag(verb, flags.threads);
}

}  // namespace heed::cli

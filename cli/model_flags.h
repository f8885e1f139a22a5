// --model, --quantize and --cpu-threads of the verbs that use a model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/filter_io.h"
#include "heed/base/threads.h"
#include "heed/generation/model_folder.h"

namespace heed::cli {

struct ModelFlags {
  std::string folder;
  std::string quantize = "none";
  int threads = 0;

  /// The form in which weights are packed.
  PackedForm form() const {
    if (quantize == "int8") return PackedForm::int8;
    return quantize == "bf16" ? PackedForm::bf16 : PackedForm::f32;
  }
  void set_threads() const {
    if (threads > 0) set_num_threads(threads);
  }
};

inline void add_model_flags(CLI::App& verb, ModelFlags& flags, const std::string& what) {
  verb.add_option("-m,--model", flags.folder, what)->required();
  verb.add_option("--quantize", flags.quantize,
                  "weights in fewer bits: int8, bf16, or none for f32")
      ->check(CLI::IsMember({"none", "bf16", "int8"}))
      ->capture_default_str();
  add_thread_flag(verb, flags.threads);
}

}  // namespace heed::cli

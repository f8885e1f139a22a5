// heed convert and heed export: models into a folder of heed's own, and imported ones back into a
// folder of Hugging Face.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/model_flags.h"
#include "cli/verbs.h"
#include "heed/generation/convert.h"

namespace heed::cli {
namespace {

struct ConvertArguments {
  std::string model, out;
  QuantizeFlag quantize;
};

// A verb with the flags that both have; `write` writes the folder.
template <typename Write>
std::shared_ptr<ConvertArguments> add_arguments(CLI::App& verb, const Write& write) {
  const auto arguments = std::make_shared<ConvertArguments>();
  verb.add_option("model", arguments->model, "the folder of a model, or a GGUF file")->required();
  verb.add_option("-o,--output", arguments->out, "folder to write; it must not exist yet")
      ->required();
  verb.callback([arguments, write] {
    write(*arguments);
    fmt::print("{}\n", arguments->out);
  });
  return arguments;
}

}  // namespace

void add_conversions(CLI::App& app) {
  CLI::App& convert =
      *app.add_subcommand("convert", "Write a model as a folder of heed's; adapters are merged");
  const auto arguments = add_arguments(convert, [](const ConvertArguments& given) {
    convert_model(given.model, given.out, given.quantize.form());
  });
  add_quantize_flag(convert, arguments->quantize);
  CLI::App& back =
      *app.add_subcommand("export", "Write an imported model as a folder of Hugging Face");
  add_arguments(back, [](const ConvertArguments& given) { export_model(given.model, given.out); });
}

}  // namespace heed::cli

// heed convert and heed export: models into a folder of heed's own, and imported ones back into a
// folder of Hugging Face.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/verbs.h"
#include "heed/generation/convert.h"

namespace heed::cli {
namespace {

struct ConvertArguments {
  std::string model, out;
};

using Write = void (*)(const std::filesystem::path& place, const std::filesystem::path& to);

void add_verb(CLI::App& app, const char* name, const char* help, Write write) {
  CLI::App* const verb = app.add_subcommand(name, help);
  const auto arguments = std::make_shared<ConvertArguments>();
  verb->add_option("model", arguments->model, "the folder of a model, or a GGUF file")->required();
  verb->add_option("-o,--output", arguments->out, "folder to write; it must not exist yet")
      ->required();
  verb->callback([arguments, write] {
    write(arguments->model, arguments->out);
    fmt::print("{}\n", arguments->out);
  });
}

}  // namespace

void add_conversions(CLI::App& app) {
  add_verb(app, "convert", "Write a model as a folder of heed's; adapters are merged",
           convert_model);
  add_verb(app, "export", "Write an imported model as a folder of Hugging Face", export_model);
}

}  // namespace heed::cli

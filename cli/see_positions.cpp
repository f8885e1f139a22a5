// heed see positions DIR TEXT: the loss of a language model by position in its context.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/verbs.h"
#include "heed/generation/model_folder.h"
#include "heed/training/position_losses.h"

namespace heed::cli {
namespace {

struct PositionsArguments {
  std::string folder, text;
  PositionLossOptions options;
};

void print_positions(const PositionsArguments& arguments) {
  const TextGenerator generator = load_text_generator(arguments.folder);
  generator.model->eval();
  const TokenStream text = read_tokens(arguments.text, *generator.tokenizer);
  fmt::print("{:>17} {:>10} {:>10} {:>10}\n", "positions", "tokens", "loss", "accuracy");
  for (const PositionLoss& part : position_losses(*generator.model, text, arguments.options)) {
    fmt::print("{:>8}-{:<8} {:>10} {:>10.4f} {:>10.4f}\n", part.first, part.last - 1, part.count,
               part.loss, part.accuracy);
  }
}

}  // namespace

void add_see_positions(CLI::App& see) {
  CLI::App* const verb =
      see.add_subcommand("positions", "Print a language model's loss by position in its context");
  const auto arguments = std::make_shared<PositionsArguments>();
  verb->add_option("folder", arguments->folder, "folder of a language model")->required();
  verb->add_option("text", arguments->text, "text file, read in blocks")->required();
  verb->add_option("--block-length", arguments->options.length, "tokens of a block")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  verb->add_option("--parts", arguments->options.parts, "ranges of positions")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  verb->add_option("--blocks", arguments->options.blocks, "number of blocks; 0: all")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  verb->callback([arguments] { print_positions(*arguments); });
}

}  // namespace heed::cli

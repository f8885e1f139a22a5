// Language models of other programs.
#include "heed/generation/foreign_folder.h"
#include "heed/text/pipeline/hf_folder.h"

namespace heed {

TextGenerator import_generator(const ForeignFolder& folder) {
  TextGenerator generator{import_as<CausalModel>(folder), read_hf_tokenizer(folder.path)};
  check_fits(generator.model->vocabulary(), *generator.tokenizer, folder);
  return generator;
}

}  // namespace heed

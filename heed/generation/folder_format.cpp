#include "heed/generation/folder_format.h"

#include "heed/base/error.h"
#include "heed/generation/classify.h"
#include "heed/generation/embed.h"
#include "heed/generation/fill.h"
#include "heed/generation/generate.h"
#include "heed/io/file.h"

namespace heed {
namespace {

// clang-format off
constinit const FolderFormat* const kFormats[] = {
    &kTranslatorFolder,
    &kGeneratorFolder,
    &kClassifierFolder,
    &kEmbedderFolder,
    &kFillerFolder,
    &kPictureClassifierFolder,
    &kElementPointerFolder,
    &kBitMachineFolder,
    &kClozeReaderFolder,
    &kStoryAnswererFolder,
    &kPictureCaptionerFolder,
};
// clang-format on

}  // namespace

const FolderFormat& folder_format_of(Task task) {
  for (const FolderFormat* const format : kFormats) {
    if (format->task == task) return *format;
  }
  HEED_ASSERT(false);
}

std::string write_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder,
                            std::string_view prefix) {
  std::string first;
  for (const Tokenizer::File& file : tokenizer.files()) {
    const std::string name = std::string(prefix) + file.name;
    io::write_file(folder / name, file.content);
    if (first.empty()) first = name;
  }
  HEED_ASSERT(!first.empty());
  return first;
}

void check_vocabulary(std::int64_t model, const Tokenizer& tokenizer,
                      const std::filesystem::path& folder, TextFrame frame) {
  const bool is_whole = model == tokenizer.size();
  HEED_CHECK(is_whole || (frame == TextFrame::special && model > tokenizer.size()),
             "[model] {}: the model has a vocabulary of {}, its tokenizer {} tokens: they do not "
             "belong together",
             folder.string(), model, tokenizer.size());
}

}  // namespace heed

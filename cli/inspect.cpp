// heed inspect FILE|FOLDER: shows the tensors of a model's weights and their metadata.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/verbs.h"
#include "heed/generation/model_folder.h"
#include "heed/io/printable.h"
#include "heed/io/tensor_source.h"
#include "heed/io/value.h"
#include "heed/kernels/dequantize.h"
#include "heed/text/unicode.h"

namespace heed::cli {
namespace {

// The texts of safetensors, or the values of GGUF in the order of the file.
std::vector<std::pair<std::string, std::string>> metadata_of(const io::TensorSource& file) {
  std::vector<std::pair<std::string, std::string>> all(file.texts().begin(), file.texts().end());
  if (!file.gguf()) return all;
  for (const io::GgufMember& member : file.gguf()->members()) {
    const auto* text = std::get_if<std::string_view>(&member.value.data);
    all.emplace_back(member.key, text ? io::in_quotes(*text) : io::to_string(member.value));
  }
  return all;
}

std::string remark(const io::TensorSource& file, const io::TensorEntry& entry) {
  std::string text;
  if (const io::TensorEntry* other = file.tied_to(entry))
    text += "  (same as " + io::printable(other->name) + ")";
  if (!entry.row_major()) text += "  (strides " + to_string(entry.strides) + ")";
  if (!io::info(entry.type).dtype && !kernels::can_dequantize(entry.type)) {
    text += "  (a type heed cannot compute with)";
  }
  return text;
}

void inspect(const std::string& path, bool lenient) {
  const auto file = io::TensorSource::open(find_model(path), {.allow_trailing_bytes = lenient});
  std::size_t width = 4, bytes = 0;
  std::int64_t elements = 0;
  for (const io::TensorEntry& entry : file.entries()) {
    width = std::max(width, unicode::width(io::printable(entry.name)));
    elements += numel(entry.shape);
    bytes += entry.bytes.size();
  }
  for (const auto& [key, value] : metadata_of(file)) {
    fmt::print("# {} = {}\n", io::printable(key), io::printable(value));
  }
  for (const io::TensorEntry& entry : file.entries()) {
    fmt::print("{:<{}}  {:<5} {:<20} {:>12} bytes{}\n", io::printable(entry.name), width,
               io::info(entry.type).name, to_string(entry.shape), entry.bytes.size(),
               remark(file, entry));
  }
  fmt::print("{} tensors, {} elements, {:.1f} MB, {}{}\n", file.entries().size(), elements,
             static_cast<double>(bytes) * 1e-6, file.format(),
             file.files().size() > 1 ? fmt::format(" in {} files", file.files().size()) : "");
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "inspect", "Show the tensors of a model: safetensors, pytorch_model.bin or GGUF");
  const auto path = std::make_shared<std::string>();
  const auto lenient = std::make_shared<bool>(false);
  verb->add_option("file", *path,
                   "the file, index of shards or folder, of a model or of its training")
      ->required();
  verb->add_flag("--lenient", *lenient, "allow bytes after the last tensor");
  verb->callback([path, lenient] { inspect(*path, *lenient); });
}

}  // namespace heed::cli

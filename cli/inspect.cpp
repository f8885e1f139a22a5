// heed inspect FILE: shows the content of a safetensors file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "cli/verbs.h"
#include "heed/io/printable.h"
#include "heed/io/safetensors.h"
#include "heed/text/unicode.h"

namespace heed::cli {
namespace {

void inspect(const std::string& path, bool lenient) {
  const io::SafetensorsFile file =
      io::SafetensorsFile::open(path, {.allow_trailing_bytes = lenient});
  std::size_t width = 4, bytes = 0;
  std::int64_t elements = 0;
  for (const io::SafetensorsEntry& entry : file.entries()) {
    width = std::max(width, unicode::width(io::printable(entry.name)));
    elements += numel(entry.shape);
    bytes += entry.bytes.size();
  }
  for (const auto& [key, value] : file.metadata()) {
    fmt::print("# {} = {}\n", io::printable(key), io::printable(value));
  }
  for (const io::SafetensorsEntry& entry : file.entries()) {
    fmt::print("{:<{}}  {:<5} {:<20} {:>12} bytes{}\n", io::printable(entry.name), width,
               entry.dtype_name, to_string(entry.shape), entry.bytes.size(),
               entry.dtype ? "" : "  (a type heed cannot compute with)");
  }
  fmt::print("{} tensors, {} elements, {:.1f} MB\n", file.entries().size(), elements,
             static_cast<double>(bytes) * 1e-6);
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand("inspect", "Show the tensors of a safetensors file");
  const auto path = std::make_shared<std::string>();
  const auto lenient = std::make_shared<bool>(false);
  verb->add_option("file", *path, "the file")->required();
  verb->add_flag("--lenient", *lenient, "allow bytes after the last tensor");
  verb->callback([path, lenient] { inspect(*path, *lenient); });
}

}  // namespace heed::cli

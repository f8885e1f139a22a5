// Files and formats of configs.
#include "heed/io/config.h"

#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/io/toml.h"

namespace heed::io::detail {
namespace {

// The most bytes of a config, read or written.
constexpr std::size_t kMaxConfigBytes = std::size_t{16} << 20;

}  // namespace

ConfigFormat format_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  HEED_CHECK(extension == ".toml" || extension == ".json",
             "[config] {}: a config's name must end in .toml or .json", path.string());
  return extension == ".toml" ? ConfigFormat::toml : ConfigFormat::json;
}

Value parse_config(std::string_view text, std::string_view source, ConfigFormat format) {
  return format == ConfigFormat::toml ? parse_toml(text, source) : parse_json(text, source);
}

Value read_config(const std::filesystem::path& path) {
  const ConfigFormat format = format_of(path);
  return parse_config(read_file(path, kMaxConfigBytes), path.string(), format);
}

std::string config_text(const Fields& fields, ConfigFormat format) {
  return format == ConfigFormat::toml ? fields.write_toml()
                                      : write_json(fields.write(), true) + "\n";
}

void write_config(const std::filesystem::path& path, const Fields& fields) {
  const std::string text = config_text(fields, format_of(path));
  HEED_CHECK(text.size() <= kMaxConfigBytes,
             "[config] {}: the config has {} bytes, and at most {} can be read: shorten its lists",
             path.string(), text.size(), kMaxConfigBytes);
  write_file(path, text);
}

}  // namespace heed::io::detail

#include "heed/models/importers/sentence_modules.h"

#include <array>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/io/paths.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

ForeignConfig read_if_there(const fs::path& path) {
  if (io::exists(path)) return ForeignConfig::read(path);
  return {io::Value{.data = io::Value::Table{}}, path.string()};
}

struct PoolingName {
  std::string_view key;   // as versions before 5.3 write it
  std::string_view name;  // as later ones do
  std::optional<Pooling> pooling;
};
constexpr std::array<PoolingName, 6> kPoolings = {
    {{"pooling_mode_cls_token", "cls", Pooling::first},
     {"pooling_mode_mean_tokens", "mean", Pooling::mean},
     {"pooling_mode_lasttoken", "lasttoken", Pooling::last},
     {"pooling_mode_max_tokens", "max", {}},
     {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", {}},
     {"pooling_mode_weightedmean_tokens", "weightedmean", {}}}};

Pooling read_pooling(const ForeignConfig& config) {
  std::vector<std::string> names;
  if (config.has("pooling_mode")) {
    names = config.texts("pooling_mode");
  } else {
    for (const PoolingName& entry : kPoolings) {
      if (config.boolean(entry.key, false)) names.emplace_back(entry.name);
    }
    if (names.empty()) names = {"mean"};
  }
  for (const PoolingName& entry : kPoolings) {
    if (names.size() == 1 && names[0] == entry.name && entry.pooling) return *entry.pooling;
  }
  fail("[import] {}: the pooling is {}: heed computes one of cls, mean and lasttoken",
       config.source(), fmt::join(names, " and "));
}

SentenceDense read_dense(const ForeignConfig& config, const std::string& folder) {
  config.expect("use_residual", false);
  config.expect("module_input_name", "sentence_embedding");
  config.expect("module_output_name", "sentence_embedding");
  const std::string function =
      config.text("activation_function", "torch.nn.modules.activation.Tanh");
  constexpr std::array<std::pair<std::string_view, Activation>, 5> kFunctions = {
      {{".Identity", Activation::none},
       {".Tanh", Activation::tanh},
       {".ReLU", Activation::relu},
       {".GELU", Activation::gelu},
       {".Sigmoid", Activation::sigmoid}}};
  for (const auto& [name, activation] : kFunctions) {
    if (!function.ends_with(name)) continue;
    return {.folder = folder,
            .in = config.integer("in_features"),
            .out = config.integer("out_features"),
            .bias = config.boolean("bias", true),
            .activation = activation};
  }
  fail(
      "[import] {}: \"activation_function\" is {}: heed computes Identity, Tanh, ReLU, GELU and "
      "Sigmoid",
      config.source(), io::in_quotes(function));
}

// The default prompt, which sentence-transformers puts before every text.
std::string read_prompt(const ForeignConfig& config) {
  const std::string name = config.text("default_prompt_name", "");
  return name.empty() ? "" : config.section("prompts").text(std::string_view(name));
}

// The names of modules without the Python packages they are in, and their folders.
struct Listed {
  std::string name, folder;
};
std::vector<Listed> read_list(const fs::path& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const io::Value value = io::parse_json(io::read_file(path, kMostBytes), path.string());
  HEED_CHECK(value.list() != nullptr, "[import] {}: it is {}, not a list of modules", path.string(),
             io::describe(value));
  std::vector<Listed> modules;
  for (const io::Value& entry : *value.list()) {
    const ForeignConfig module(entry, path.string());
    const std::string type = module.text("type");
    modules.push_back({type.substr(type.rfind('.') + 1), module.text("path", "")});
    const fs::path relative = modules.back().folder;
    HEED_CHECK(relative.is_relative() && relative.lexically_normal().string().substr(0, 2) != "..",
               "[import] {}: the module {} is in {}: expected a folder inside", path.string(),
               io::in_quotes(modules.back().name), io::in_quotes(modules.back().folder));
  }
  return modules;
}

}  // namespace

std::optional<SentenceModules> read_sentence_modules(const std::filesystem::path& folder) {
  const fs::path path = folder / "modules.json";
  if (folder.empty() || !io::exists(path)) return {};
  const std::vector<Listed> modules = read_list(path);
  const auto name_at = [&](std::size_t i) {
    return i < modules.size() ? std::string_view(modules[i].name) : std::string_view();
  };
  SentenceModules found;
  std::size_t i = 0;
  const bool begins = name_at(0) == "Transformer" && name_at(1) == "Pooling";
  if (begins) {
    const ForeignConfig pooling = read_if_there(folder / modules[1].folder / "config.json");
    found.pooling = read_pooling(pooling);
    found.prompt = read_prompt(read_if_there(folder / "config_sentence_transformers.json"));
    if (!found.prompt.empty()) pooling.expect("include_prompt", true);
    i = 2;
    if (name_at(i) == "Dense") {
      const std::string& inside = modules[i++].folder;
      found.dense = read_dense(read_if_there(folder / inside / "config.json"), inside);
    }
    if (name_at(i) == "Normalize") {
      found.normalize = true;
      ++i;
    }
  }
  HEED_CHECK(begins && i == modules.size(),
             "[import] {}: module {} is {}: heed reads a Transformer, a Pooling and, if there are "
             "any, one Dense and a Normalize",
             path.string(), i, io::in_quotes(name_at(i)));
  const ForeignConfig settings = read_if_there(folder / "sentence_bert_config.json");
  found.max_tokens = settings.integer("max_seq_length", 0);
  found.lower_case = settings.boolean("do_lower_case", false);
  return found;
}

}  // namespace heed

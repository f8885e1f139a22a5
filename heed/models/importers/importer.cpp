#include "heed/models/importers/importer.h"

#include <array>
#include <charconv>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/nn/init.h"
#include "heed/tensor/memory_limit.h"
#include "heed/tensor/storage.h"

namespace heed {
namespace {

struct ActivationName {
  std::string_view name;
  FeedForwardKind plain;
  std::optional<FeedForwardKind> gated;
};
constexpr std::array<ActivationName, 8> kActivations = {
    {{"relu", FeedForwardKind::relu, {}},
     {"gelu", FeedForwardKind::gelu, FeedForwardKind::geglu},
     {"gelu_new", FeedForwardKind::gelu_tanh, FeedForwardKind::geglu_tanh},
     {"gelu_pytorch_tanh", FeedForwardKind::gelu_tanh, FeedForwardKind::geglu_tanh},
     {"gelu_fast", FeedForwardKind::gelu_tanh, FeedForwardKind::geglu_tanh},
     {"gelu_python", FeedForwardKind::gelu, FeedForwardKind::geglu},
     {"silu", FeedForwardKind::silu, FeedForwardKind::swiglu},
     {"swish", FeedForwardKind::silu, FeedForwardKind::swiglu}}};

// Checks of heed's own models do not know that sizes come from a file.
template <typename F>
auto naming(const std::string& source, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with("[import]")) throw;
    fail("[import] the config beside {} describes no model that heed can make: {}", source,
         error.what());
  }
}

}  // namespace

std::unique_ptr<Model> import_model(const Import& import, const io::TensorSource& tensors,
                                    std::optional<PackedForm> form) {
  naming(tensors.name(), [&] { import.model.validate(); });
  std::uint64_t stored = 0;  // in f32
  for (const io::TensorEntry& entry : tensors.entries()) {
    stored += static_cast<std::uint64_t>(numel(entry.shape)) * sizeof(float);
  }
  // The config and the files must agree before memory is taken. Parameters made here are never
  // written, so they take no memory; tables of positions do.
  constexpr std::uint64_t kFactor = 2, kExtra = std::uint64_t{512} << 20;
  const MemoryLimit limit(
      kFactor * stored + kExtra,
      fmt::format("[import] {} describes a model that is far larger than its weights, {} tensors "
                  "of {} bytes: they do not belong together, or one of them is damaged",
                  tensors.name(), tensors.entries().size(), stored));
  const Unpooled unpooled;
  std::unique_ptr<Model> model;
  {
    const init::Skipped skipped;
    Generator unused(0);
    model = naming(tensors.name(), [&] { return import.model.make(unused); });
  }
  import_parameters(*model, import.names, tensors, form);
  model->eval();
  return model;
}

FeedForwardKind find_activation(std::string_view name, std::string_view source, bool gated) {
  std::vector<std::string_view> known;
  for (const ActivationName& entry : kActivations) {
    if (gated && !entry.gated) continue;
    if (entry.name == name) return gated ? *entry.gated : entry.plain;
    known.push_back(entry.name);
  }
  fail("[import] {}: there is no activation {}{}: heed computes {}", source, io::in_quotes(name),
       gated ? " with a gate" : "", fmt::join(known, ", "));
}

io::TensorSource no_tensors() {
  static constexpr std::array<char, 10> kEmpty = {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
  return io::TensorSource(io::SafetensorsFile::parse(std::as_bytes(std::span(kEmpty))));
}

FeedForwardKind import_activation(const ForeignConfig& config, const ForeignConfig::Keys& keys,
                                  std::string_view otherwise, bool gated) {
  return find_activation(config.text(keys, otherwise), config.source(), gated);
}

std::vector<std::string> import_labels(const ForeignConfig& config) {
  const ForeignConfig section = config.section("id2label");
  std::vector<std::string> labels(section.table().size());
  for (const io::Member& member : section.table()) {
    std::size_t number = labels.size();
    const char* const end = member.key.data() + member.key.size();
    const auto [at, error] = std::from_chars(member.key.data(), end, number);
    HEED_CHECK(error == std::errc() && at == end && number < labels.size() &&
                   member.value.string() != nullptr && labels[number].empty(),
               "[import] {}: \"id2label\" has {}: its keys must be the numbers from 0 to {}, and "
               "its values names",
               config.source(), io::in_quotes(member.key), labels.size() - 1);
    labels[number] = *member.value.string();
  }
  return labels;
}

void expect_translator(const ForeignConfig& config) {
  config.expect("is_encoder_decoder", true);
  for (const std::string& name : config.texts("architectures")) {
    const bool is_part = name.find("Encoder") != name.npos || name.find("Decoder") != name.npos;
    const bool is_other =
        name.find("For") != name.npos && !name.ends_with("ForConditionalGeneration");
    HEED_CHECK(!is_part && !is_other,
               "[import] {}: \"architectures\" names {}: of this model_type heed reads models that "
               "write text, such as those named …ForConditionalGeneration",
               config.source(), io::in_quotes(name));
  }
}

}  // namespace heed

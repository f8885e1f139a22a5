#include "heed/generation/convert.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heed/base/error.h"
#include "heed/generation/foreign_folder.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/io/folder.h"
#include "heed/io/json.h"
#include "heed/models/importers/importers.h"
#include "heed/models/importers/rotary.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/nn/pack_weights.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Null for a model that was not imported.
std::shared_ptr<Origin> origin_of(const LoadedModel& loaded) {
  return std::visit(
      [](const auto& model) -> std::shared_ptr<Origin> {
        if constexpr (requires { model.origin; }) return model.origin;
        return {};
      },
      loaded);
}

// config.json of the exported folder: the origin's, for weights in f32.
ForeignConfig exported_config(const ForeignConfig& config) {
  io::Value::Table table;
  for (const io::Member& member : config.table()) {
    const bool is_dtype = member.key == "dtype" || member.key == "torch_dtype";
    if (!is_dtype && member.key != kInterleavedRope) table.push_back(member);
  }
  table.push_back({"dtype", {.data = std::string("float32")}});
  return {io::Value{.data = std::move(table)}, config.source()};
}

// Rows of queries or keys whose rotary positions pair neighbouring features, in the order in which
// features k and k + D/2 are a pair.
Tensor in_halves(const Tensor& rows, std::int64_t head_size) {
  const std::int64_t heads = rows.size(0) / head_size;
  Shape pairs{heads, head_size / 2, 2};
  if (rows.rank() == 2) pairs = Shape{heads, head_size / 2, 2, rows.size(1)};
  return reshape(contiguous_copy(transpose(reshape(rows, pairs), 1, 2)), rows.shape());
}

void reorder_rotary_rows(std::vector<NamedTensor>& tensors, std::int64_t head_size) {
  for (NamedTensor& named : tensors) {
    const bool is_rotated = named.name.find(".q_proj.") != named.name.npos ||
                            named.name.find(".k_proj.") != named.name.npos;
    if (is_rotated) named.tensor = in_halves(named.tensor, head_size);
  }
}

std::int64_t head_size_of(const ForeignConfig& config) {
  return config.integer("head_dim",
                        config.integer("hidden_size") / config.integer("num_attention_heads"));
}

}  // namespace

void convert_model(const std::filesystem::path& place, const std::filesystem::path& to,
                   PackedForm form) {
  const bool is_plain = form == PackedForm::f32 || stored_form(place);  // a stored form is refused
  LoadedModel loaded = load_model(place, is_plain ? WeightForm() : form);
  model_of(loaded).merge_adapters();
  io::write_folder(to, [&](const fs::path& folder) {
    std::visit([&](const auto& any) { save_model(any, folder); }, loaded);
  });
}

void export_model(const std::filesystem::path& place, const std::filesystem::path& to) {
  const WeightForm stored = stored_form(place);
  LoadedModel loaded = load_model(place, stored);
  if (stored) unpack_weights(model_of(loaded));
  model_of(loaded).merge_adapters();
  const std::shared_ptr<Origin> origin = origin_of(loaded);
  HEED_CHECK(origin,
             "[export] {} was not imported, so there is no architecture of Hugging Face that it is "
             "known to have: only imported models can be exported, also after training",
             place.string());
  io::write_folder(to, [&](const fs::path& folder) {
    origin->write(folder);
    const ForeignConfig before = ForeignConfig::read(folder / kModelConfigFile);
    const ForeignConfig config = exported_config(before);
    const Import import =
        find_importer(config.text("model_type"), config.source()).read(config, no_tensors());
    std::vector<NamedTensor> tensors = export_parameters(model_of(loaded), import.names);
    if (before.boolean(kInterleavedRope, false)) {
      reorder_rotary_rows(tensors, head_size_of(config));
    }
    io::write_file(folder / kModelConfigFile,
                   io::write_json({.data = config.table()}, true) + "\n");
    save_tensors(tensors, folder / kModelFile, {{"format", "pt"}});
  });
}

}  // namespace heed

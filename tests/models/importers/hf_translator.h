// Small encoder-decoders of Hugging Face compared with transformers: states of the encoder, scores,
// and decoding step by step. tests/generation/import_translator_test.cpp compares searches.
#pragma once

#include <string>

#include "heed/io/json.h"
#include "tests/models/importers/hf_case.h"

namespace heed::test {

inline void check_encoder_decoder(const std::string& name) {
  const HfCase golden(name);
  const NoGrad no_grad;
  for (const char* const config : kHfConfigs) {
    SCOPED_TRACE(name + "/" + config);
    const auto model = golden.model<TranslationModel>(config);
    const Memory memory = model->encode(golden["in.ids"], golden["in.lengths"]);  // [B, S, E]
    expect_near(memory.states, golden, "out.encoder");
    const Tensor read = golden["in.decoder_ids"];
    const Tensor states = model->decode(read, memory);  // [B, T, E]
    expect_near(model->output_layer()(states), golden, "out.logits", false);
    expect_decoding_gives(*model->start(memory), read, states);
  }
}

/// The error of importing a folder with a config that differs by some keys: R"("d_kv": 3)".
inline std::string complaint_about(const HfCase& golden, const std::string& keys) {
  try {
    const ForeignConfig changes(io::parse_json("{" + keys + "}", "changes"), "changes");
    io::Value::Table table = changes.table();
    const ForeignConfig own = ForeignConfig::read(golden.path() / "config.json");
    for (const io::Member& member : own.table()) {
      if (io::find(changes.table(), member.key) == nullptr) table.push_back(member);
    }
    const ForeignConfig config({.data = std::move(table)}, "config.json");
    const Importer& importer = find_importer(config.text("model_type"), config.source());
    import_model(importer.read(config, golden.tensors()), golden.tensors());
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace heed::test

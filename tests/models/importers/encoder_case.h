// The golden folders of a family of encoders: NAME (a bare model), NAME_masked_lm and
// NAME_classifier, compared with transformers.
#pragma once

#include <string>

#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/models/classifier.h"
#include "heed/models/masked_model.h"
#include "heed/models/sentence_encoder.h"
#include "tests/models/importers/hf_case.h"

namespace heed::test {

inline TextBatch batch_of(const HfCase& golden) {
  TextBatch batch{golden["in.ids"], golden["in.lengths"]};
  if (golden.has("in.types")) batch.types = golden["in.types"];
  return batch;
}

inline void expect_golden_states(const std::string& name, double tolerance = kHfTolerance) {
  const NoGrad no_grad;
  const HfCase golden(name);
  for (const char* const config : kHfConfigs) {
    SCOPED_TRACE(config);
    expect_near(golden.model<EncodingModel>(config)->states(batch_of(golden)), golden, "out.hidden",
                true, tolerance);
  }
}

inline void expect_golden_fillings(const std::string& name) {
  const NoGrad no_grad;
  const HfCase golden(name);
  for (const char* const config : kHfConfigs) {
    SCOPED_TRACE(config);
    const auto model = golden.model<FillingModel>(config);
    expect_near(model->output_layer()((*model)(batch_of(golden))), golden, "out.logits");
  }
}

inline void expect_golden_classes(const std::string& name) {
  const NoGrad no_grad;
  const HfCase golden(name);
  for (const char* const config : kHfConfigs) {
    SCOPED_TRACE(config);
    const auto model = golden.model<ClassificationModel>(config);
    expect_near((*model)(batch_of(golden)), golden, "out.logits", false);
    EXPECT_EQ(golden.import(config).labels,
              (std::vector<std::string>{"negative", "neutral", "positive"}));
  }
}

/// The folder with a text in its config.json replaced.
inline Import changed_import(const std::string& name, const std::string& from,
                             const std::string& to) {
  const HfCase golden(name);
  std::string text = io::read_file(golden.path() / "config.json", 1 << 20);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw Error("config.json has no " + from);
  text.replace(at, from.size(), to);
  const ForeignConfig config(io::parse_json(text, "config.json"), "config.json");
  return find_importer(config.text("model_type"), config.source()).read(config, golden.tensors());
}

}  // namespace heed::test

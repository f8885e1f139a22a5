// Conversion: every architecture gives back the tensors that it was read from; converted and
// exported folders hold the same model; adapters are merged.
#include "heed/generation/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "heed/generation/classify.h"
#include "heed/generation/foreign_folder.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/tensor/read.h"
#include "tests/generation/hf_encoder_folder.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::convert_test {
namespace {

using test::golden_path;
using testing::HasSubstr;

const std::vector<std::string> kTexts = {"a dog runs", "the cat", "sleeps"};

TEST(Export, EveryArchitectureGivesBackItsTensors) {
  int folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden_path("hf"))) {
    SCOPED_TRACE(entry.path().filename());
    const ForeignFolder folder = open_foreign(entry.path());
    const auto model = import_model(folder.import, folder.tensors);
    std::set<std::string> names;
    for (const NamedTensor& named : export_parameters(*model, folder.import.names)) {
      EXPECT_TRUE(names.insert(named.name).second) << named.name << " is there twice";
      const std::string_view prefix = folder.import.names.prefix;
      const io::TensorEntry* found = folder.tensors.lookup(named.name);
      if (found == nullptr && named.name.starts_with(prefix)) {
        found = folder.tensors.lookup(named.name.substr(prefix.size()));
      }
      if (found == nullptr) continue;  // another name of a tied tensor
      const Tensor stored = read_tensor(folder.tensors, *found);
      ASSERT_EQ(named.tensor.shape(), stored.shape()) << named.name;
      EXPECT_LE(test::max_relative_error(named.tensor, stored), 1e-6) << named.name;
    }
    ++folders;
  }
  EXPECT_GE(folders, 30);
}

class ConvertModel : public testing::Test {
 protected:
  static std::vector<std::vector<float>> scores(const std::filesystem::path& folder) {
    return classify_texts(load_text_classifier(folder), kTexts);
  }
  TempDir dir_;
};

TEST_F(ConvertModel, ThereAndBack) {
  std::optional<test::HfEncoderFolder> hub("bert_classifier");
  const auto expected = scores(hub->path());
  convert_model(hub->path(), dir_ / "own");
  EXPECT_EQ(scores(dir_ / "own"), expected);
  EXPECT_EQ(load_text_classifier(dir_ / "own").labels,
            (std::vector<std::string>{"negative", "neutral", "positive"}));
  hub.reset();  // nothing of it is needed any more
  convert_model(dir_ / "own", dir_ / "again");
  EXPECT_EQ(scores(dir_ / "again"), expected);
  export_model(dir_ / "again", dir_ / "back");
  EXPECT_TRUE(is_foreign(dir_ / "back"));
  EXPECT_EQ(scores(dir_ / "back"), expected);
  const io::TensorSource ours = io::TensorSource::open(dir_ / "back"),
                         theirs = io::TensorSource::open(golden_path("hf/bert_classifier"));
  EXPECT_EQ(ours.entries().size(), theirs.entries().size());
  for (const io::TensorEntry& entry : theirs.entries()) EXPECT_TRUE(ours.contains(entry.name));
}

TEST_F(ConvertModel, MergesAdapters) {
  TextGenerator generator = test::tiny_generator();
  Generator random(1);
  generator.model->adapt({.rank = 2}, random);
  std::filesystem::create_directory(dir_ / "adapted");
  save_model(generator, dir_ / "adapted");
  EXPECT_EQ(load_text_generator(dir_ / "adapted").model->lora().rank, 2);
  convert_model(dir_ / "adapted", dir_ / "merged");
  EXPECT_EQ(load_text_generator(dir_ / "merged").model->lora().rank, 0);
}

// ---- quantised folders --------------------------------------------------------------------------

class QuantizedFolder : public ConvertModel {
 protected:
  // The scores of texts by a model in a form, and by one that was converted to it.
  static std::vector<std::vector<float>> scores(const std::filesystem::path& folder,
                                                WeightForm form) {
    return classify_texts(load_text_classifier(folder, form), kTexts);
  }
};

TEST_F(QuantizedFolder, GivesTheBitsOfQuantisingWhenLoading) {
  const test::HfEncoderFolder hub("bert_classifier");
  for (const PackedForm form : {PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
    const auto own = dir_ / std::string(name_of(form));
    convert_model(hub.path(), own, form);
    EXPECT_EQ(stored_form(own), form);
    const auto expected = scores(hub.path(), form);
    EXPECT_NE(expected, scores(hub.path(), PackedForm::f32));
    EXPECT_EQ(scores(own, form), expected);
    EXPECT_EQ(scores(own, PackedForm::f32), expected) << "no other form is asked for";
    EXPECT_THAT(io::read_file(own / "config.json", 1 << 20),
                HasSubstr(fmt::format("\"quantize\": \"{}\"", name_of(form))));
  }
  EXPECT_EQ(stored_form(hub.path()), std::nullopt);
  const auto bytes = [&](const char* folder) {
    return std::filesystem::file_size(dir_ / folder / "model.safetensors");
  };
  EXPECT_LT(bytes("int8"), bytes("bf16"));
}

TEST_F(QuantizedFolder, OfEveryTask) {
  const auto check = [&](const auto& model, const auto& name) {
    std::filesystem::create_directory(dir_ / name);
    save_model(model, dir_ / name);
    const auto own = dir_ / (std::string(name) + "_int8");
    convert_model(dir_ / name, own, PackedForm::int8);
    EXPECT_EQ(stored_form(own), PackedForm::int8);
    EXPECT_EQ(load_model(own, PackedForm::int8).index(), load_model(dir_ / name).index());
    EXPECT_THAT(error_message([&] { load_model(own); }), HasSubstr("are int8"));
  };
  check(test::tiny_translator(test::letters(), test::letters("xyz")), "translator");
  check(test::tiny_generator(), "generator");
  check(test::tiny_classifier(), "classifier");
  check(test::tiny_embedder(), "embedder");
  check(test::tiny_filler(), "filler");
}

TEST_F(QuantizedFolder, MergesAdaptersFirst) {
  TextGenerator generator = test::tiny_generator();
  Generator random(1);
  generator.model->adapt({.rank = 2}, random);
  std::filesystem::create_directory(dir_ / "adapted");
  save_model(generator, dir_ / "adapted");
  convert_model(dir_ / "adapted", dir_ / "int8", PackedForm::int8);
  EXPECT_EQ(load_text_generator(dir_ / "int8", PackedForm::int8).model->lora().rank, 0);
}

TEST_F(QuantizedFolder, IsExportedAsTheNumbersThatItStandsFor) {
  const test::HfEncoderFolder hub("bert_classifier");
  convert_model(hub.path(), dir_ / "int8", PackedForm::int8);
  export_model(dir_ / "int8", dir_ / "back");
  // Quantising the exported model gives the same integers again.
  EXPECT_EQ(scores(dir_ / "back", PackedForm::int8), scores(dir_ / "int8", PackedForm::int8));
}

TEST_F(QuantizedFolder, SaysWhatCannotBeDone) {
  const test::HfEncoderFolder hub("bert_classifier");
  convert_model(hub.path(), dir_ / "int8", PackedForm::int8);
  const auto error = [&](const auto& call) { return error_message(call); };
  EXPECT_THAT(error([&] { convert_model(dir_ / "int8", dir_ / "again"); }),
              HasSubstr("int8 are int8: such a model can be used and exported, but not trained"));
  EXPECT_THAT(error([&] { convert_model(dir_ / "int8", dir_ / "again", PackedForm::int8); }),
              HasSubstr("take the model that it was converted from"));
  EXPECT_THAT(error([&] { load_model(dir_ / "int8", PackedForm::bf16); }),
              HasSubstr("are int8 and cannot become bf16"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "again"));
  std::string config = io::read_file(dir_ / "int8/config.json", 1 << 20);
  config.replace(config.find("\"int8\""), 6, "\"int3\"");
  io::write_file(dir_ / "int8/config.json", config);
  EXPECT_THAT(error([&] { load_model(dir_ / "int8", PackedForm::f32); }), HasSubstr("int3"));
}

TEST_F(ConvertModel, SaysWhatCannotBeDone) {
  std::filesystem::create_directory(dir_ / "own");
  save_model(test::tiny_generator(), dir_ / "own");
  EXPECT_THAT(error_message([&] { export_model(dir_ / "own", dir_ / "out"); }),
              HasSubstr("was not imported"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out"));
  EXPECT_NE(error_message([&] { convert_model(dir_ / "own", dir_ / "own"); }), "(no error)");
}

}  // namespace
}  // namespace heed::convert_test

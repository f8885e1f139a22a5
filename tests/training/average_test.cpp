#include "heed/training/average.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "heed/io/safetensors.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A model folder with one parameter, and what a training run leaves beside it.
fs::path folder_with(const TempDir& dir, const std::string& name, std::vector<float> values) {
  const fs::path folder = dir / name;
  fs::create_directory(folder);
  io::write_file(folder / "config.json", R"({"kind": "translator"})");
  io::write_file(folder / "tokenizer.model", "pieces of " + name);
  io::write_file(folder / "progress.json", "{}");
  io::write_file(folder / "optimizer.safetensors", "");
  const auto count = std::ssize(values);
  save_tensors(std::vector<NamedTensor>{{"w", from_values<float>(values, {count})}},
               folder / "model.safetensors");
  return folder;
}

std::vector<float> values_in(const fs::path& folder, std::int64_t count) {
  std::vector<NamedTensor> read = {{"w", zeros({count})}};
  load_tensors(read, io::SafetensorsFile::open(folder / "model.safetensors"));
  return read[0].tensor.to_vector<float>();
}

TEST(Average, IsTheMeanWithTheRestOfTheLast) {
  const TempDir dir;
  const std::vector<fs::path> folders = {folder_with(dir, "a", {1, 2, 3}),
                                         folder_with(dir, "b", {2, 2, 5}),
                                         folder_with(dir, "c", {6, 2, 1})};
  average_models(folders, dir / "mean");
  EXPECT_EQ(values_in(dir / "mean", 3), (std::vector<float>{3, 2, 3}));
  EXPECT_EQ(io::read_file(dir / "mean/tokenizer.model", 100), "pieces of c");
  EXPECT_TRUE(fs::exists(dir / "mean/config.json"));
  EXPECT_FALSE(fs::exists(dir / "mean/progress.json"));
  EXPECT_FALSE(fs::exists(dir / "mean/optimizer.safetensors"));
}

TEST(Average, OfEqualsIsThemToTheBit) {
  const TempDir dir;
  const std::vector<float> odd = {0.1f, 1e-30f, 3.3333333f, -7e20f};
  const std::vector<fs::path> folders = {folder_with(dir, "a", odd), folder_with(dir, "b", odd),
                                         folder_with(dir, "c", odd)};
  average_models(folders, dir / "mean");
  EXPECT_EQ(values_in(dir / "mean", 4), odd);
}

TEST(Average, RefusesQuantisedModels) {
  const TempDir dir;
  const std::vector<fs::path> folders = {folder_with(dir, "a", {1}), folder_with(dir, "b", {2})};
  io::write_file(dir / "b/config.json", R"({"kind": "translator", "quantize": "int8"})");
  EXPECT_THAT(error_message([&] { average_models(folders, dir / "mean"); }),
              HasSubstr("b are int8: average the models that they were converted from"));
  EXPECT_FALSE(fs::exists(dir / "mean"));
}

TEST(Average, WrongUseSaysWhatIsWrong) {
  const TempDir dir;
  const std::vector<fs::path> good = {folder_with(dir, "a", {1, 2})};
  const std::vector<fs::path> unequal = {good[0], folder_with(dir, "b", {1, 2, 3})};
  EXPECT_THAT(error_message([&] { average_models(unequal, dir / "mean"); }), HasSubstr("w"));
  EXPECT_FALSE(fs::exists(dir / "mean"));
  EXPECT_THAT(error_message([&] { average_models(good, dir / "a"); }),
              HasSubstr("exists already: choose another name"));
  EXPECT_EQ(error_message([&] { average_models({}, dir / "mean"); }),
            "[average] no models: give at least one folder");
  const std::vector<fs::path> none = {dir / "nothing"};
  EXPECT_THAT(error_message([&] { average_models(none, dir / "mean"); }), HasSubstr("there is no"));
}

}  // namespace
}  // namespace heed

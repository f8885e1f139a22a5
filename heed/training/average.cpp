#include "heed/training/average.h"

#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/io/folder.h"
#include "heed/io/paths.h"
#include "heed/io/safetensors.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/training/checkpoints.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Files that belong to the run rather than to its model.
bool is_of_training(const std::string& name) {
  return name == kOptimizerFile || name == kProgressFile || name == kParametersFile;
}

// Sums in f64, so that the mean of equal models is that model to the bit.
std::vector<NamedTensor> mean_of(std::span<const fs::path> folders) {
  std::vector<NamedTensor> sums, read;
  for (const fs::path& folder : folders) {
    const io::SafetensorsFile file = io::SafetensorsFile::open(folder / kModelFile);
    if (read.empty()) {
      for (const auto& entry : file.entries()) {
        read.push_back({entry.name, empty(Shape(entry.shape), DType::f32)});
        sums.push_back({entry.name, zeros(Shape(entry.shape), DType::f64)});
      }
    }
    load_tensors(read, file);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      add_into(sums[i].tensor, cast_data(read[i].tensor, DType::f64));
    }
  }
  for (NamedTensor& sum : sums) {
    scale_in_place(sum.tensor, 1.0 / static_cast<double>(folders.size()));
    sum.tensor = cast_data(sum.tensor, DType::f32);
  }
  return sums;
}

}  // namespace

void average_models(std::span<const fs::path> folders, const fs::path& to) {
  HEED_CHECK(!folders.empty(), "[average] no models: give at least one folder");
  for (const fs::path& folder : folders) {
    kind_of_model(folder);  // throws if a file is missing
    const WeightForm form = stored_form(folder);
    HEED_CHECK(!form,
               "[average] the weights of {} are {}: average the models that they were converted "
               "from, and convert the mean",
               folder.string(), name_of(*form));
  }
  const std::vector<NamedTensor> mean = mean_of(folders);
  io::write_folder(to, [&](const fs::path& folder) {
    for (const fs::path& path : io::list_folder(folders.back())) {
      const std::string name = path.filename().string();
      if (name == kModelFile || is_of_training(name)) continue;
      if (name == kOriginFolder) {
        fs::create_directory(folder / name);
        Origin(path).write(folder / name);
        continue;
      }
      constexpr std::size_t kMost = std::size_t{1} << 30;
      io::write_file(folder / name, io::read_file(path, kMost));
    }
    save_tensors(mean, folder / kModelFile);
  });
}

}  // namespace heed

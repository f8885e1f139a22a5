#include "heed/generation/bit_machine.h"

#include "heed/autograd/tape.h"
#include "heed/generation/folder_format.h"
#include "heed/ops/choose.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

Tensor written_bits(const BitModel& model, const Tensor& x) {
  const NoGrad no_grad;
  return cast(greater(model(x), scalar(0.0)), DType::f32);  // [B, T, O]
}

// ---- folders ------------------------------------------------------------------------------------

namespace {

struct BitMachineKeys {
  void fields(io::Fields& /*field*/, bool /*is_imported*/) {}
  LoadedModel read(std::unique_ptr<Model> model, const std::filesystem::path& /*folder*/) const {
    return BitMachine{as_interface<BitModel>(std::move(model))};
  }
};

}  // namespace

constinit const FolderFormat kBitMachineFolder = folder_format<BitMachineKeys>(Task::copy);

BitMachine load_bit_machine(const std::filesystem::path& place, WeightForm form) {
  return std::get<BitMachine>(load_task(place, Task::copy, form));
}

void save_model(const BitMachine& machine, const std::filesystem::path& folder) {
  save_folder(*machine.model, BitMachineKeys{}, {}, folder);
}

}  // namespace heed

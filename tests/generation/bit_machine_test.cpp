#include "heed/generation/bit_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/models/turing_machine.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::bit_machine_test {
namespace {

BitMachine tiny() {
  Generator generator(2);
  auto model = std::make_unique<TuringMachine>(
      TuringMachineConfig{
          .inputs = 4, .outputs = 3, .machine = {.slots = 5, .width = 3, .hidden = 6}},
      generator);
  model->eval();
  return {std::move(model)};
}

TEST(BitMachine, WritesTheMoreProbableBits) {
  const NoGrad no_grad;
  const BitMachine machine = tiny();
  const Tensor x = randn({2, 7, 4});
  const std::vector<float> scores = (*machine.model)(x).to_vector<float>();
  const std::vector<float> bits = written_bits(*machine.model, x).to_vector<float>();
  ASSERT_EQ(bits.size(), 2u * 7u * 3u);
  for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(bits[i], scores[i] > 0.0f ? 1.0f : 0.0f);
}

TEST(BitMachine, FoldersHoldTheModel) {
  const TempDir dir;
  const BitMachine machine = tiny();
  save_model(machine, dir.path());
  const BitMachine loaded = load_bit_machine(dir.path());
  const NoGrad no_grad;
  const Tensor x = randn({2, 7, 4});
  EXPECT_EQ((*loaded.model)(x).to_vector<float>(), (*machine.model)(x).to_vector<float>());
  EXPECT_TRUE(std::holds_alternative<BitMachine>(load_model(dir.path(), PackedForm::f32)));
  EXPECT_THAT(error_message([&] { load_element_pointer(dir.path()); }),
              testing::HasSubstr("for task \"copy\" (turing_machine), not for \"point\""));
}

}  // namespace
}  // namespace heed::bit_machine_test

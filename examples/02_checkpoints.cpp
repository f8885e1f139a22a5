// Saves parameters to a safetensors file and loads them: training that is interrupted and resumed
// gives the same bits.
#include <fmt/format.h>
#include <heed/heed.h>

#include <filesystem>

namespace {

using namespace heed;

struct Net : Module {
  Linear hidden{{.in = 8, .out = 32, .activation = Activation::gelu}};
  LayerNorm norm{{.size = 32}};
  Linear scores{{.in = 32, .out = 4}};

  void visit(ParameterVisitor& v) override {
    v("hidden", hidden);
    v("norm", norm);
    v("scores", scores);
  }
  Tensor operator()(const Tensor& x) const { return scores(norm(hidden(x))); }  // [B, 4]
};

// Batch number n depends only on n, so there is no position in a data set to save.
void train(Net& net, AdamW& optimizer, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t n = from; n < to; ++n) {
    Generator batch(n);
    const Tensor x = normal({16, 8}, 0.0, 1.0, batch);   // [16, 8]
    const Tensor target = argmax(slice(x, 1, 0, 4), 1);  // [16]
    optimizer.zero_grad();
    cross_entropy(net(x), target).backward();
    optimizer.step({.rate = 1e-2});
  }
}

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "heed-example-checkpoints";
  std::filesystem::create_directories(folder);

  Net whole;
  Net first = whole;
  first.clone_parameters();
  AdamW for_whole(whole.named_parameters());
  train(whole, for_whole, 0, 40);

  {
    AdamW for_first(first.named_parameters());
    train(first, for_first, 0, 25);
    save_parameters(first, folder / "model.safetensors");
    for_first.save(folder / "optimizer.safetensors");
  }
  Net second;
  load_parameters(second, folder / "model.safetensors");
  AdamW for_second(second.named_parameters());
  for_second.load(folder / "optimizer.safetensors");
  train(second, for_second, 25, 40);

  bool same = true;
  const auto expected = whole.named_parameters(), actual = second.named_parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    same = same && expected[i].tensor.to_vector<float>() == actual[i].tensor.to_vector<float>();
    fmt::print("{:<14} {}\n", expected[i].name, to_string(expected[i].tensor.shape()));
  }
  fmt::print("40 updates at once and 25 + 15 with a file between: {}\n",
             same ? "the same bits" : "different!");
  std::filesystem::remove_all(folder);
  return same ? 0 : 1;
}

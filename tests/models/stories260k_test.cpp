// A pretrained Llama model (stories260K of llama2.c) as a config: RMSNorm, SwiGLU, rotary positions
// and grouped heads come from TOML alone, and greedy decoding gives the published text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <sstream>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/models/language_model.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/view.h"
#include "tests/support/op_case.h"
#include "tests/support/paths.h"

namespace heed::stories260k_test {
namespace {

constexpr const char* kConfig = R"(
  vocabulary = 512
  layers = 5
  embed = 64
  heads = 8
  kv_heads = 4
  hidden = 172
  norm = "rms"
  norm_first = true
  norm_eps = 1e-5
  activation = "swiglu"
  bias = false
  positions = "rope base=10000"
  tied = true
)";
constexpr std::int32_t kBegin = 1;
constexpr std::size_t kMost = 1 << 24;

static_assert(std::endian::native == std::endian::little, "the file is little endian");

std::string read_shared(const char* name) {
  return io::read_file(test::shared_data(fmt::format("models/stories260K/{}", name)), kMost);
}

// The floats of the file, one tensor after another; each has one block per layer.
class Weights {
 public:
  explicit Weights(std::string bytes) : bytes_(std::move(bytes)) {}

  // Fills rows [begin, begin + rows) of parameters "decoder.layers.0.name", "decoder.layers.1.name"
  // and so on.
  void take_layers(LanguageModel& model, const std::string& name, std::int64_t begin,
                   std::int64_t rows) {
    for (std::size_t i = 0; i < model.decoder.layers.size(); ++i) {
      take(model, fmt::format("decoder.layers.{}.{}", i, name), begin, rows);
    }
  }
  void take(LanguageModel& model, const std::string& name, std::int64_t begin, std::int64_t rows) {
    for (NamedTensor& parameter : model.named_parameters()) {
      if (parameter.name != name) continue;
      const Tensor part = view::slice(parameter.tensor, 0, begin, begin + rows);
      const auto size = static_cast<std::size_t>(part.numel()) * sizeof(float);
      ASSERT_LE(at_ + size, bytes_.size());
      const auto offset = begin * (parameter.tensor.numel() / parameter.tensor.size(0));
      std::memcpy(parameter.tensor.mutable_data<float>() + offset, bytes_.data() + at_, size);
      at_ += size;
      return;
    }
    FAIL() << "the model has no parameter " << name;
  }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::string bytes_;
  std::size_t at_ = 7 * sizeof(std::int32_t);  // after the header
};

LanguageModelConfig config_of_stories() {
  LanguageModelConfig config;
  io::load_toml(kConfig, config);
  return config;
}

class Stories260K : public testing::Test {
 protected:
  void SetUp() override {
    HEED_NEED_SHARED_DATA(test::shared_data("models/stories260K/stories260K.bin"));
    const std::string bytes = read_shared("stories260K.bin");
    std::int32_t header[7];
    ASSERT_GT(bytes.size(), sizeof(header));
    std::memcpy(header, bytes.data(), sizeof(header));
    ASSERT_THAT(header, testing::ElementsAre(64, 172, 5, 8, 4, 512, 512));
    Weights weights(bytes);
    weights.take(model_, "tokens.tokens.weight", 0, 512);
    weights.take_layers(model_, "norm1.weight", 0, 64);
    weights.take_layers(model_, "self_attn.in_proj_weight", 0, 64);   // queries
    weights.take_layers(model_, "self_attn.in_proj_weight", 64, 32);  // keys
    weights.take_layers(model_, "self_attn.in_proj_weight", 96, 32);  // values
    weights.take_layers(model_, "self_attn.out_proj.weight", 0, 64);
    weights.take_layers(model_, "norm2.weight", 0, 64);
    weights.take_layers(model_, "gate_proj.weight", 0, 172);
    weights.take_layers(model_, "down_proj.weight", 0, 64);
    weights.take_layers(model_, "up_proj.weight", 0, 172);
    weights.take(model_, "decoder.norm.weight", 0, 64);
    EXPECT_EQ(weights.left(), 2 * 512 * 4 * sizeof(float)) << "tables of cosines and sines";
    model_.eval();
    std::istringstream ids(read_shared("greedy_ids.txt"));
    for (std::int32_t id; ids >> id;) expected_.push_back(id);
    ASSERT_EQ(expected_.size(), 256u);
  }

  LanguageModel model_{config_of_stories()};
  std::vector<std::int32_t> expected_;
};

std::int32_t likeliest(std::span<const float> scores) {
  return static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
}

TEST_F(Stories260K, HasAsManyParametersAsItsFile) { EXPECT_EQ(model_.parameter_count(), 260'032); }

TEST_F(Stories260K, GreedyDecodingGivesThePublishedTokens) {
  DecodingSteps steps(model_.output, 1, model_.start(1));
  std::vector<std::int32_t> ids;
  for (std::int32_t last = kBegin; ids.size() < expected_.size(); ids.push_back(last)) {
    last = likeliest(steps.step({&last, 1}).all().values<float>());
  }
  EXPECT_EQ(ids, expected_);
}

// All positions in one pass: the likeliest next token at each is the one that was chosen.
TEST_F(Stories260K, OnePassChoosesTheSameTokens) {
  const NoGrad no_grad;
  std::vector<std::int32_t> read = {kBegin};
  read.insert(read.end(), expected_.begin(), expected_.end() - 1);
  const Tensor scores = model_.output(model_(ids_of(read, 1)));  // [1, 256, V]
  const std::span<const float> all = scores.values<float>();
  std::vector<std::int32_t> ids;
  for (std::size_t t = 0; t < read.size(); ++t) ids.push_back(likeliest(all.subspan(t * 512, 512)));
  EXPECT_EQ(ids, expected_);
}

TEST_F(Stories260K, TheTokensAreThePublishedText) {
  std::map<std::int32_t, std::string> pieces;
  std::istringstream vocabulary(read_shared("partial_vocab.tsv"));
  for (std::string line; std::getline(vocabulary, line);) {
    const std::size_t tab = line.find('\t');
    ASSERT_NE(tab, line.npos);
    const std::string piece = line.substr(tab + 1);
    pieces[std::stoi(line.substr(0, tab))] = piece == "\\n" ? "\n" : piece;
  }
  std::string text;
  for (const std::int32_t id : expected_) {
    ASSERT_TRUE(pieces.contains(id)) << id;
    text += pieces[id];
  }
  EXPECT_EQ(text, " " + read_shared("greedy_text.txt")) << "SentencePiece puts a space first";
}

// The config is what makes the model: with the pairs of another layout, the tokens are others.
TEST_F(Stories260K, OtherRotaryPairsGiveOtherTokens) {
  LanguageModelConfig config = config_of_stories();
  config.block.positions = "rope base=10000 halves=true";
  LanguageModel other(config);
  const std::vector<NamedTensor> from = model_.named_parameters();
  std::vector<NamedTensor> to = other.named_parameters();
  ASSERT_EQ(to.size(), from.size());
  for (std::size_t i = 0; i < to.size(); ++i) copy_into(to[i].tensor, from[i].tensor);
  const NoGrad no_grad;
  const Tensor ids = ids_of(std::span(expected_).first(64), 1);
  EXPECT_FALSE(test::same_bits(other(ids), model_(ids)));
}

}  // namespace
}  // namespace heed::stories260k_test

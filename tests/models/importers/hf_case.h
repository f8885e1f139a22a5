// Small models of Hugging Face with results of transformers, folders of tests/golden/hf
// (tools/golden/README.md): loaded through the importers and compared.
//
//   const HfCase golden("llama");
//   const auto model = golden.model<CausalModel>();
//   expect_near(model->output_layer()((*model)(golden["in.ids"])), golden, "out.logits");
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/search.h"
#include "heed/models/importers/importers.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/read.h"
#include "heed/tensor/view.h"
#include "tests/support/paths.h"

namespace heed::test {

/// The config of a folder as transformers 5.x writes it, and as 4.x did.
inline constexpr const char* kHfConfigs[] = {"config.json", "config_4x.json"};

/// One folder.
class HfCase {
 public:
  explicit HfCase(const std::string& name)
      : path_(golden_path("hf/" + name)),
        expected_(io::TensorSource::open(path_ / "expected.safetensors")),
        tensors_(io::TensorSource::open(path_)) {}

  /// A tensor of expected.safetensors: "in.ids", "out.logits", ….
  Tensor operator[](const std::string& name) const { return read_tensor(expected_, name); }
  bool has(const std::string& name) const { return expected_.contains(name); }
  std::vector<std::int64_t> lengths() const {
    return (*this)["in.lengths"].to_vector<std::int64_t>();
  }
  /// The valid tokens of a row of the inputs.
  std::vector<std::int32_t> prompt(std::size_t row) const {
    const Tensor ids = (*this)["in.ids"];
    const std::vector<std::int64_t> all = ids.to_vector<std::int64_t>();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row) * ids.size(1);
    return {begin, begin + lengths()[row]};
  }
  /// The tokens that a search of transformers has found for a row ("out.greedy"), without the token
  /// that ended it.
  std::vector<std::int32_t> found(const std::string& name, std::size_t row,
                                  const std::vector<std::int32_t>& ends) const {
    const Tensor ids = (*this)[name];
    std::vector<std::int32_t> tokens;
    for (const std::int64_t id : clone_data(view::select(ids, 0, static_cast<std::int64_t>(row)))
                                     .to_vector<std::int64_t>()) {
      if (id < 0 || std::ranges::count(ends, id) > 0) break;
      tokens.push_back(static_cast<std::int32_t>(id));
    }
    return tokens;
  }

  /// The folder in heed's terms, with one of the configs.
  Import import(const std::string& config_file = "config.json") const {
    const ForeignConfig config = ForeignConfig::read(path_ / config_file);
    return find_importer(config.text("model_type"), config.source()).read(config, tensors_);
  }
  template <typename Interface>
  std::unique_ptr<Interface> model(const std::string& config_file = "config.json") const {
    std::unique_ptr<Model> made = import_model(import(config_file), tensors_);
    auto* const typed = dynamic_cast<Interface*>(made.get());
    if (typed == nullptr) throw Error("the model is for another task");
    made.release();
    return std::unique_ptr<Interface>(typed);
  }

  const std::filesystem::path& path() const { return path_; }
  const io::TensorSource& tensors() const { return tensors_; }

 private:
  std::filesystem::path path_;
  io::TensorSource expected_, tensors_;
};

/// What tests permit, as a part of the range of the expected values. Errors of f32 are around 1e-6.
inline constexpr double kHfTolerance = 2e-5;

/// The largest difference as a part of the range of the expected values. Of tensors [B, T, …], only
/// the first lengths[b] positions count, if there are lengths. Infinite if shapes differ or a value
/// is not finite.
inline double error_of_range(const Tensor& actual, const Tensor& expected,
                             const std::vector<std::int64_t>& lengths = {}) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (actual.shape() != expected.shape()) return kInfinite;
  const auto a = cast_data(actual, DType::f64).to_vector<double>();
  const auto e = cast_data(expected, DType::f64).to_vector<double>();
  const std::int64_t T = lengths.empty() ? 1 : expected.size(1);
  const std::size_t inner =
      lengths.empty() ? e.size() : e.size() / lengths.size() / static_cast<std::size_t>(T);
  double low = kInfinite, high = -kInfinite, error = 0.0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const std::size_t row = i / inner;  // b T + t
    if (!lengths.empty() &&
        static_cast<std::int64_t>(row) % T >= lengths[row / static_cast<std::size_t>(T)]) {
      continue;
    }
    if (!std::isfinite(a[i])) return kInfinite;
    low = std::min(low, e[i]);
    high = std::max(high, e[i]);
    error = std::max(error, std::abs(a[i] - e[i]));
  }
  return high > low ? error / (high - low) : error;
}

/// Compares with a tensor of the golden folder; `by_length` if positions after the end of a row do
/// not count.
inline void expect_near(const Tensor& actual, const HfCase& golden, const std::string& name,
                        bool by_length = true, double tolerance = kHfTolerance) {
  const auto lengths = by_length ? golden.lengths() : std::vector<std::int64_t>{};
  EXPECT_LE(error_of_range(actual, golden[name], lengths), tolerance)
      << golden.path().filename().string() << ": " << name;
}

/// Decodes ids [B, T] step by step, the first `together` tokens in one step, and compares with
/// `whole` [B, T, E], the result of one call.
inline void expect_decoding_gives(Decoding& decoding, const Tensor& ids, const Tensor& whole,
                                  std::int64_t together = 3, double tolerance = kHfTolerance) {
  const NoGrad no_grad;
  const auto part = [](const Tensor& x, std::int64_t from, std::int64_t to) {
    return clone_data(view::slice(x, 1, from, to));
  };
  for (std::int64_t from = 0; from < ids.size(1);) {
    const std::int64_t to = from == 0 ? together : from + 1;
    EXPECT_LE(error_of_range(decoding.step(part(ids, from, to)), part(whole, from, to)), tolerance)
        << "tokens " << from << " to " << to - 1;
    from = to;
  }
}

/// A plan as in generate() of transformers: nothing is forbidden, and a text of the maximum length
/// is complete. `ends` are the tokens that end a text.
inline SearchPlan hf_plan(std::int64_t beam_size, std::int64_t max_length,
                          std::vector<std::int32_t> ends) {
  return {.options = {.beam_size = beam_size, .max_length = max_length},
          .ends = std::move(ends),
          .is_cut = true};
}

/// Searches from a start with steps of one row; the best result, without its end token.
inline Hypothesis best_of(StepModel& steps, std::int32_t start, const SearchPlan& plan) {
  const Start from{.token = start, .source_length = std::nullopt};
  const std::vector<NBest> found = search(steps, {&from, 1}, plan);
  return found.at(0).at(0);
}

/// Steps that compute the whole text again.
class ReplayedSteps : public StepModel {
 public:
  ReplayedSteps(const CausalModel& model, std::vector<std::int32_t> read)
      : model_(model), read_{std::move(read)} {}

  std::int64_t rows() const override { return std::ssize(read_); }
  std::int64_t vocabulary() const override { return model_.vocabulary(); }
  TokenScores step(std::span<const std::int32_t> last) override {
    std::vector<std::int32_t> all;
    for (std::size_t row = 0; row < read_.size(); ++row) {
      read_[row].push_back(last[row]);
      all.insert(all.end(), read_[row].begin(), read_[row].end());
    }
    const Tensor states = model_(ids_of(all, rows()));  // [rows, T, E]
    return model_.output_layer()(clone_data(view::select(states, 1, states.size(1) - 1)));
  }
  void reorder(std::span<const std::int64_t> from) override {
    std::vector<std::vector<std::int32_t>> chosen;
    for (const std::int64_t row : from) chosen.push_back(read_[static_cast<std::size_t>(row)]);
    read_ = std::move(chosen);
  }

 private:
  const CausalModel& model_;
  std::vector<std::vector<std::int32_t>> read_;
};

/// Whether cached decoding is the same as a call on the whole text.
enum class Cached : std::uint8_t { as_whole, otherwise };

/// Compares a language model of the folder with transformers: states, scores, decoding step by
/// step, greedy and beam search; with both configs.
inline void check_causal(const std::string& name, Cached cached = Cached::as_whole) {
  const HfCase golden(name);
  const NoGrad no_grad;
  for (const char* const config : kHfConfigs) {
    SCOPED_TRACE(name + "/" + config);
    const auto model = golden.model<CausalModel>(config);
    const Tensor ids = golden["in.ids"];
    const Tensor states = (*model)(ids);  // [B, T, E]
    expect_near(states, golden, "out.hidden");
    expect_near(model->output_layer()(states), golden, "out.logits");
    if (cached == Cached::as_whole) expect_decoding_gives(*model->start(2), ids, states);
    std::vector<std::int32_t> ends;
    const ForeignConfig settings = ForeignConfig::read(golden.path() / config);
    for (const std::int64_t id : settings.integers("eos_token_id")) {
      ends.push_back(static_cast<std::int32_t>(id));
    }
    for (std::size_t row = 0; row < golden.lengths().size(); ++row) {
      std::vector<std::int32_t> prompt = golden.prompt(row);
      const std::int32_t last = prompt.back();
      prompt.pop_back();
      for (const auto& [found, beam_size] :
           {std::pair("out.greedy", 1), std::pair("out.beam", 4)}) {
        const bool whole = cached == Cached::otherwise;
        const std::string key = whole ? std::string(found) + "_uncached" : found;
        std::unique_ptr<StepModel> steps = std::make_unique<ReplayedSteps>(*model, prompt);
        if (!whole) {
          auto decoding = model->start(1);
          decoding->step(ids_of(prompt, 1));
          steps = std::make_unique<DecodingSteps>(model->output_layer(), 1, std::move(decoding));
        }
        const SearchPlan plan = hf_plan(beam_size, golden[key].size(1), ends);
        EXPECT_EQ(best_of(*steps, last, plan).tokens, golden.found(key, row, ends))
            << key << ", row " << row;
      }
    }
  }
}

/// A folder of a published model in ~/.cache/heed-models, or in $HEED_MODELS; it may be absent.
inline std::filesystem::path published_model(const std::string& name) {
  const char* const folder = std::getenv("HEED_MODELS");
  if (folder != nullptr) return std::filesystem::path(folder) / name;
  const char* const home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) / ".cache/heed-models" / name;
}

}  // namespace heed::test

/// Skips the test, with a line saying so, where a published model is absent.
#define HEED_NEED_MODEL(name)                                                             \
  do {                                                                                    \
    if (!std::filesystem::exists(heed::test::published_model(name))) {                    \
      GTEST_SKIP() << "skipped: " << (name)                                               \
                   << " is not in ~/.cache/heed-models (python3 ../shared/models/get.py " \
                   << (name) << ")";                                                      \
    }                                                                                     \
  } while (false)

// Helpers of the tests of text models: random tokens, mechanisms of the registry as configs name
// them, a check that everything learns, and decoding step by step with rows that come and go.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "heed/attention/registry.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/op_case.h"

namespace heed::test {

inline constexpr std::int64_t kVocabulary = 11;
/// Sizes that fit the samples of all mechanisms.
inline constexpr std::int64_t kEmbed = 16, kHeads = 2, kHidden = 20;

/// Tokens i64 [B, T], different for each stream.
inline Tensor random_ids(std::int64_t B, std::int64_t T, std::uint64_t stream) {
  const RandomStream random{7, stream};
  Tensor ids = empty({B, T}, DType::i64);
  for (std::int64_t i = 0; i < B * T; ++i) {
    ids.mutable_data<std::int64_t>()[i] = random.below(static_cast<std::uint64_t>(i), kVocabulary);
  }
  return ids;
}

inline Tensor lengths_of(std::initializer_list<std::int64_t> lengths) {
  return from_values<std::int64_t>(lengths, {static_cast<std::int64_t>(lengths.size())});
}

/// ids in which the tokens of row b from `first` on are replaced by others.
inline Tensor with_other_tokens(const Tensor& ids, std::int64_t b, std::int64_t first) {
  Tensor changed = clone_data(ids);
  for (std::int64_t t = first; t < ids.size(1); ++t) {
    std::int64_t& token = changed.mutable_data<std::int64_t>()[b * ids.size(1) + t];
    token = (token + 1 + t % 3) % kVocabulary;
  }
  return changed;
}

/// Row b of x.
inline Tensor row_of(const Tensor& x, std::int64_t b) { return clone_data(view::select(x, 0, b)); }

/// "name key=value" with the options of a mechanism's sample.
inline std::string text_of(const Mechanism& mechanism) {
  return fmt::format("{} {}", mechanism.name, mechanism.about.sample);
}

inline bool fits_self_attention(const Traits& traits) {
  return traits.form == Form::sequence && traits.self;
}
inline bool fits_cross_attention(const Traits& traits) {
  return traits.form == Form::sequence && traits.cross;
}

/// Whether the layer's result depends on a parameter of the mechanism; it does not depend on the
/// gates of pointer_generator, for example.
inline bool affects_result(const Mechanism& mechanism, const std::string& name) {
  std::vector<std::string> options = sample_options(mechanism);
  options.push_back(fmt::format("embed={}", kEmbed));
  const auto layer = make_attention(mechanism.name, options);
  const Tensor x = randn({2, 5, kEmbed});
  sum(square((*layer)(mechanism.traits.self ? AttentionInput{.x = x}
                                            : AttentionInput{.x = x, .memory = x})))
      .backward();
  for (const NamedTensor& parameter : layer->named_parameters()) {
    if (parameter.name == name) return parameter.tensor.grad().defined();
  }
  return true;  // of a position code, which the sample does not have
}

/// Backward from the loss: gradients are finite, and every parameter has one that is not 0, except
/// those that `excused` names.
inline void expect_learns(const Module& model, const Tensor& loss,
                          const std::function<bool(const std::string& name)>& excused = nullptr) {
  ASSERT_TRUE(std::isfinite(loss.item()));
  loss.backward();
  for (const NamedTensor& parameter : model.named_parameters()) {
    if (!parameter.tensor.tracks_grad()) continue;
    if (excused && excused(parameter.name)) continue;
    ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.name << " has no gradient";
    double total = 0.0;
    for (const double g : cast_data(parameter.tensor.grad(), DType::f64).to_vector<double>()) {
      total += std::abs(g);
    }
    EXPECT_TRUE(std::isfinite(total)) << parameter.name;
    EXPECT_GT(total, 0.0) << parameter.name;
  }
}

/// Loss and gradients with one thread and with two, from the same random numbers.
inline void expect_same_bits_with_any_threads(Module& model,
                                              const std::function<Tensor()>& loss_of) {
  const int before = num_threads();
  std::vector<std::vector<Tensor>> results;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    default_generator() = Generator(3);
    const Tensor loss = loss_of();
    loss.backward();
    results.emplace_back().push_back(loss);
    for (const Tensor& parameter : model.parameters()) results.back().push_back(parameter.grad());
    model.zero_grad();
  }
  set_num_threads(before);
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_TRUE(same_bits(results[0][i], results[1][i])) << i;
  }
}

/// Decodes ids [3, T] with rows that change places, become more and become fewer, and compares each
/// with the same positions of `whole` [3, T, E]. `steps` has step() and reorder().
template <typename Steps>
void expect_steps_give(Steps& steps, const Tensor& ids, const Tensor& whole,
                       double tolerance = 2e-5) {
  const std::vector<std::vector<std::int64_t>> orders = {
      {0, 1, 2}, {2, 0, 0, 1, 2}, {4, 1}, {1, 0, 1}, {2}, {0, 0}};
  std::vector<std::int64_t> rows = {0, 1, 2};  // the row of ids that each sequence decodes
  std::int64_t t = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    steps.reorder(orders[i]);
    std::vector<std::int64_t> now;
    for (const std::int64_t from : orders[i]) now.push_back(rows[static_cast<std::size_t>(from)]);
    rows = now;
    const std::int64_t end = t + (i == 3 ? 3 : 1);  // one step of several tokens
    ASSERT_LE(end, ids.size(1));
    const Tensor chosen =
        from_values(std::span<const std::int64_t>(rows), {static_cast<std::int64_t>(rows.size())});
    const auto part = [&](const Tensor& x) {
      return index_select(clone_data(view::slice(x, 1, t, end)).detach(), 0, chosen);
    };
    const Tensor y = steps.step(part(ids));
    EXPECT_LE(max_relative_error(y, part(whole)), tolerance) << "tokens from " << t << " on";
    t = end;
  }
}

}  // namespace heed::test

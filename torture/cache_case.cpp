// A random program of a cache (append, rewind, truncate, reorder, clear, attend) against keys and
// values that are kept as plain lists of positions.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/decode.h"
#include "heed/attention/masks.h"
#include "heed/autograd/tape.h"
#include "heed/ops/join.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "torture/cases.h"
#include "torture/compare.h"

namespace heed::torture {
namespace {

// What the cache holds: for each sequence, keys and values [G, 1, features] of each position, as
// the cache rounds them.
struct Position {
  Tensor k, v;
};
using Sequence = std::vector<Position>;

class CacheWalk {
 public:
  explicit CacheWalk(Draws& draws)
      : draws_(draws),
        G_(draws.between(1, 3)),
        H_(G_ * draws.between(1, 3)),
        D_(draws.length(70)),
        Dv_(draws.length(70)),
        dtype_(draws.chance(0.4) ? DType::bf16 : DType::f32),
        window_(draws.chance(0.4) ? std::optional(draws.between(1, 40)) : std::nullopt),
        sequences_(static_cast<std::size_t>(draws.between(1, 4))),
        cache_({.batch = batch(),
                .heads = G_,
                .features = D_,
                .value_features = Dv_,
                .dtype = dtype_,
                .capacity = draws.below(20),
                .window = window_}) {
    text_ = fmt::format("cache {} B{} H{} G{} D{} Dv{} window {}:", name_of(dtype_), batch(), H_,
                        G_, D_, Dv_, window_.value_or(0));
  }

  std::string run() {
    const NoGrad off;
    for (std::int64_t n = draws_.between(5, 40); n > 0; --n) {
      step();
      if (cache_.length() != length() || cache_.batch() != batch()) {
        throw Wrong(fmt::format("{} has length {} and batch {}, not {} and {}", text_,
                                cache_.length(), cache_.batch(), length(), batch()));
      }
      if (length() > 0 && draws_.chance(0.6)) attend();
    }
    return text_;
  }

 private:
  std::int64_t batch() const { return std::ssize(sequences_); }
  std::int64_t length() const { return std::ssize(sequences_[0]); }

  void step() {
    switch (draws_.below(10)) {
      case 0:
        return rewind(draws_.between(0, length()));
      case 1: {
        const std::int64_t keep = draws_.between(0, length());
        text_ += fmt::format(" truncate {}", keep);
        cache_.truncate(cache_.first_position() + keep);
        for (Sequence& sequence : sequences_) sequence.resize(static_cast<std::size_t>(keep));
        return;
      }
      case 2:
      case 3:
        return reorder();
      case 4:
        if (!draws_.chance(0.2)) return;
        text_ += " clear";
        cache_.clear();
        for (Sequence& sequence : sequences_) sequence.clear();
        return;
      default:
        return append(draws_.chance(0.6) ? 1 : draws_.between(0, 30));
    }
  }

  void rewind(std::int64_t n) {
    text_ += fmt::format(" rewind {}", n);
    cache_.rewind(n);
    for (Sequence& sequence : sequences_)
      sequence.resize(sequence.size() - static_cast<std::size_t>(n));
  }

  void append(std::int64_t n) {
    text_ += fmt::format(" append {}", n);
    const Tensor k = uniform({batch(), G_, n, D_}, -2, 2, draws_.generator());
    const Tensor v = uniform({batch(), G_, n, Dv_}, -2, 2, draws_.generator());
    cache_.append(k, v);
    const auto kept = [&](const Tensor& x, std::int64_t b, std::int64_t t) {
      const Tensor one = clone_data(view::slice(view::select(x, 0, b), 1, t, t + 1));
      return cast_data(cast_data(one, dtype_), DType::f64);
    };
    for (std::int64_t b = 0; b < batch(); ++b) {
      Sequence& sequence = sequences_[static_cast<std::size_t>(b)];
      for (std::int64_t t = 0; t < n; ++t) sequence.push_back({kept(k, b, t), kept(v, b, t)});
      if (window_ && std::ssize(sequence) > *window_) {
        sequence.erase(sequence.begin(), sequence.end() - *window_);
      }
    }
  }

  void reorder() {
    std::vector<std::int64_t> from;
    for (std::int64_t n = draws_.between(1, 5); n > 0; --n) from.push_back(draws_.below(batch()));
    text_ += fmt::format(" reorder {}", fmt::join(from, ","));
    cache_.reorder(from);
    std::vector<Sequence> now;
    for (const std::int64_t i : from) now.push_back(sequences_[static_cast<std::size_t>(i)]);
    sequences_ = std::move(now);
  }

  void attend() {
    const std::int64_t queries = std::min(length(), draws_.chance(0.6) ? 1 : draws_.between(1, 12));
    text_ += fmt::format(" attend {}", queries);
    const Tensor q = uniform({batch(), H_, queries, D_}, -2, 2, draws_.generator());
    const bool sloped = draws_.chance(0.3), causally = draws_.chance(0.7);
    const auto spec_for = [&](DType dtype) {
      AttentionSpec spec;
      if (sloped) {
        spec.modifiers.push_back(alibi(alibi_slopes(H_, dtype), Corner::bottom_right));
      }
      if (causally) spec.mask = causal(Corner::bottom_right);
      return spec;
    };
    std::vector<Tensor> keys, values;
    for (const Sequence& sequence : sequences_) {
      std::vector<Tensor> k, v;
      for (const Position& position : sequence) {
        k.push_back(position.k);
        v.push_back(position.v);
      }
      keys.push_back(concat(k, 1));
      values.push_back(concat(v, 1));
    }
    Outcome expected;
    expected.add("the output", attention(cast_data(q, DType::f64), stack(keys, 0), stack(values, 0),
                                         spec_for(DType::f64)));
    with_isas([&](Isa isa) {
      Outcome actual;
      actual.add("the output", attention_decode(q, cache_, spec_for(DType::f32)));
      require_close(actual, expected, {}, fmt::format("{}, {}", text_, name_of(isa)));
    });
  }

  Draws& draws_;
  std::int64_t G_, H_, D_, Dv_;
  DType dtype_;
  std::optional<std::int64_t> window_;
  std::vector<Sequence> sequences_;
  KvCache cache_;
  std::string text_;
};

}  // namespace

std::string cache_case(Draws& draws) { return CacheWalk(draws).run(); }

}  // namespace heed::torture

// The KV cache against a plain list of positions, through random sequences of operations; memory,
// views and errors.
#include "heed/attention/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "heed/base/random.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

constexpr std::int64_t kHeads = 2, kKey = 3, kValue = 5;

/// The expected content of a cache: for each sequence its kept positions, each with a row for every
/// head.
class Model {
 public:
  Model(std::int64_t batch, std::optional<std::int64_t> window, DType dtype)
      : sequences_(static_cast<std::size_t>(batch)), window_(window), dtype_(dtype) {}

  void append(const Tensor& k, const Tensor& v) {
    for (std::int64_t t = 0; t < k.size(2); ++t) {
      for (std::size_t b = 0; b < sequences_.size(); ++b) {
        sequences_[b].push_back({row(k, b, t), row(v, b, t)});
      }
      ++length_;
      if (!window_ || length_ <= *window_) continue;
      for (auto& sequence : sequences_) sequence.pop_front();
      --length_;
      ++evicted_;
    }
  }
  void rewind(std::int64_t n) {
    for (auto& sequence : sequences_)
      sequence.resize(sequence.size() - static_cast<std::size_t>(n));
    length_ -= n;
  }
  void reorder(const std::vector<std::int64_t>& from) {
    const auto before = sequences_;
    sequences_.clear();
    for (const std::int64_t b : from) sequences_.push_back(before[static_cast<std::size_t>(b)]);
  }
  void clear() {
    for (auto& sequence : sequences_) sequence.clear();
    length_ = evicted_ = 0;
  }

  void expect_same(const KvCache& cache) const {
    const auto batch = static_cast<std::int64_t>(sequences_.size());
    ASSERT_EQ(cache.batch(), batch);
    ASSERT_EQ(cache.length(), length_);
    ASSERT_EQ(cache.first_position(), evicted_);
    const Tensor k = cache.keys(), v = cache.values();
    ASSERT_EQ(k.shape(), (Shape{batch, kHeads, length_, kKey}));
    ASSERT_EQ(v.shape(), (Shape{batch, kHeads, length_, kValue}));
    for (std::size_t b = 0; b < sequences_.size(); ++b) {
      for (std::int64_t t = 0; t < length_; ++t) {
        const auto& [key, value] = sequences_[b][static_cast<std::size_t>(t)];
        ASSERT_EQ(row(k, b, t), key) << "sequence " << b << " position " << t;
        ASSERT_EQ(row(v, b, t), value) << "sequence " << b << " position " << t;
      }
    }
  }
  std::int64_t batch() const { return static_cast<std::int64_t>(sequences_.size()); }
  std::int64_t length() const { return length_; }

 private:
  // One position of all heads, rounded to the cache's dtype.
  std::vector<float> row(const Tensor& x, std::size_t b, std::int64_t t) const {
    const Tensor at = view::select(view::select(x, 0, static_cast<std::int64_t>(b)), 1, t);
    return cast_data(cast_data(at, dtype_), DType::f32).to_vector<float>();
  }

  std::vector<std::deque<std::array<std::vector<float>, 2>>> sequences_;
  std::optional<std::int64_t> window_;
  DType dtype_;
  std::int64_t length_ = 0, evicted_ = 0;
};

// The same random operations on both; `seed` and the settings determine the case.
void walk(std::uint64_t seed, std::optional<std::int64_t> window, DType dtype, DType given) {
  Generator generator(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(uniform({1}, 0, static_cast<double>(n), generator).item());
  };
  KvCache cache({.batch = 3,
                 .heads = kHeads,
                 .features = kKey,
                 .value_features = kValue,
                 .dtype = dtype,
                 .capacity = below(20),
                 .window = window});
  Model model(3, window, dtype);
  for (int step = 0; step < 120; ++step) {
    const std::int64_t choice = below(12);
    if (choice < 8) {
      const std::int64_t T = choice < 6 ? 1 : below(12);
      const Tensor k = normal({model.batch(), kHeads, T, kKey}, 0, 1, generator, given);
      // As a transposed view: the cache must not need contiguous rows.
      const Tensor v =
          view::transpose(normal({model.batch(), T, kHeads, kValue}, 0, 1, generator, given), 1, 2);
      cache.append(k, v);
      model.append(k, v);
    } else if (choice == 8) {
      const std::int64_t n = below(std::min<std::int64_t>(model.length(), 4) + 1);
      below(2) == 0 ? cache.rewind(n) : cache.truncate(cache.first_position() + cache.length() - n);
      model.rewind(n);
    } else if (choice < 11) {
      std::vector<std::int64_t> from(static_cast<std::size_t>(1 + below(5)));
      for (std::int64_t& b : from) b = below(model.batch());
      cache.reorder(from);
      model.reorder(from);
    } else if (below(4) == 0) {
      cache.clear();
      model.clear();
    }
    model.expect_same(cache);
    if (testing::Test::HasFatalFailure()) FAIL() << "step " << step << " of seed " << seed;
  }
  model.expect_same(cache.clone());
}

TEST(KvCache, DoesWhatAListDoes) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const std::optional<std::int64_t> window :
         {std::optional<std::int64_t>{}, std::optional<std::int64_t>{1},
          std::optional<std::int64_t>{7}, std::optional<std::int64_t>{40}}) {
      walk(seed, window, DType::f32, DType::f32);
      walk(seed + 100, window, DType::bf16, DType::f32);
      walk(seed + 200, window, DType::f32, DType::f64);
    }
  }
}

KvCache filled(std::int64_t batch, std::int64_t length) {
  KvCache cache({.batch = batch, .heads = 1, .features = 1});
  const Tensor x = view::expand(
      view::reshape(cast_data(arange(batch), DType::f32), {batch, 1, 1, 1}), {batch, 1, length, 1});
  cache.append(x, x);
  return cache;
}

// Every way to reorder four sequences, into one to five: cycles, copies, and sequences that stay or
// disappear.
TEST(KvCache, EveryOrder) {
  for (std::int64_t count = 0; count <= 5; ++count) {
    std::int64_t orders = 1;
    for (std::int64_t i = 0; i < count; ++i) orders *= 4;
    for (std::int64_t order = 0; order < orders; ++order) {
      std::vector<std::int64_t> from;
      std::vector<float> expected;
      for (std::int64_t i = 0, rest = order; i < count; ++i, rest /= 4) {
        from.push_back(rest % 4);
        expected.insert(expected.end(), 2, static_cast<float>(rest % 4));
      }
      KvCache cache = filled(4, 2);
      cache.reorder(from);
      ASSERT_EQ(cache.keys().to_vector<float>(), expected) << "order " << order;
      ASSERT_EQ(cache.values().to_vector<float>(), expected) << "order " << order;
    }
  }
}

TEST(KvCache, SequencesThatStayAreNotCopied) {
  KvCache cache = filled(4, 2);
  const float* const before = cache.keys().data<float>();
  const std::vector<std::int64_t> from = {0, 2, 2};
  cache.reorder(from);
  EXPECT_EQ(cache.keys().data<float>(), before);
}

TEST(KvCache, MemoryDoublesAndAWindowBoundsIt) {
  const auto grow = [](std::optional<std::int64_t> window, std::size_t element, DType dtype) {
    KvCache cache({.heads = 1, .features = 4, .dtype = dtype, .window = window});
    const Tensor x = zeros({1, 1, 1, 4});
    std::size_t changes = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      const std::size_t before = cache.bytes();
      cache.append(x, x);
      changes += cache.bytes() != before ? 1 : 0;
    }
    EXPECT_LE(changes, 7U);
    EXPECT_GE(cache.bytes(), 2 * 4 * element * static_cast<std::size_t>(cache.length()));
    return cache.bytes() / (2 * 4 * element);
  };
  EXPECT_EQ(grow({}, 4, DType::f32), 1024U);
  EXPECT_EQ(grow({}, 2, DType::bf16), 1024U);
  EXPECT_EQ(grow(50, 4, DType::f32), 100U);
}

TEST(KvCache, RoomMadeAtOnceIsNotMadeAgain) {
  KvCache cache({.batch = 2, .heads = 1, .features = 4, .capacity = 64});
  const std::size_t bytes = cache.bytes();
  EXPECT_EQ(bytes, 2U * 2 * 64 * 4 * 4);
  const float* const first = cache.keys().data<float>();
  for (int i = 0; i < 64; ++i) cache.append(zeros({2, 1, 1, 4}), zeros({2, 1, 1, 4}));
  EXPECT_EQ(cache.bytes(), bytes);
  EXPECT_EQ(cache.keys().data<float>(), first);
}

TEST(KvCache, AClonedCacheGoesItsOwnWay) {
  KvCache cache = filled(2, 3);
  KvCache other = cache.clone();
  const Tensor x = ones({2, 1, 1, 1});
  other.rewind(2);
  other.append(x, x);
  EXPECT_EQ(cache.length(), 3);
  EXPECT_EQ(cache.keys().to_vector<float>(), (std::vector<float>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(other.keys().to_vector<float>(), (std::vector<float>{0, 1, 1, 1}));
}

TEST(KvCache, NothingIsLegal) {
  KvCache none({.batch = 0, .heads = 2, .features = 3});
  none.append(zeros({0, 2, 4, 3}), zeros({0, 2, 4, 3}));
  EXPECT_EQ(none.keys().shape(), (Shape{0, 2, 4, 3}));
  none.reorder({});
  KvCache some({.heads = 2, .features = 3});
  some.append(zeros({1, 2, 0, 3}), zeros({1, 2, 0, 3}));
  EXPECT_EQ(some.length(), 0);
  some.rewind(0);
}

TEST(KvCache, SaysWhatIsWrong) {
  const auto make = [](KvCacheConfig config) {
    return error_message([&] { KvCache cache(config); });
  };
  EXPECT_EQ(make({.batch = -1, .heads = 1, .features = 1}),
            "[kv_cache] batch -1: it must be 0 or more");
  EXPECT_EQ(make({}), "[kv_cache] heads 0, features 0, value_features 0: each must be 1 or more");
  EXPECT_EQ(make({.heads = 1, .features = 1, .dtype = DType::i64}),
            "[kv_cache] dtype i64: a cache holds f32, f64 or bf16");
  EXPECT_EQ(make({.heads = 1, .features = 1, .capacity = -2}),
            "[kv_cache] capacity -2: it must be 0 or more");
  EXPECT_EQ(make({.heads = 1, .features = 1, .window = 0}),
            "[kv_cache] window 0: it must be 1 or more; leave it out to keep every position");

  KvCache cache({.batch = 2, .heads = 3, .features = 4, .value_features = 5, .window = 2});
  const Tensor k = zeros({2, 3, 1, 4}), v = zeros({2, 3, 1, 5});
  EXPECT_EQ(error_message([&] {
              cache.append(zeros({2, 1, 1, 4}), v);
            }),
            "[kv_cache] k has shape [2, 1, 1, 4]: this cache takes [2, 3, T, 4]");
  EXPECT_EQ(error_message([&] {
              cache.append(k, zeros({2, 3, 5}));
            }),
            "[kv_cache] v has shape [2, 3, 5]: this cache takes [2, 3, T, 5]");
  EXPECT_EQ(error_message([&] {
              cache.append(k, zeros({2, 3, 2, 5}));
            }),
            "[kv_cache] k has 1 positions, v has 2: they must be as many");
  EXPECT_EQ(error_message([&] {
              cache.append(zeros({2, 3, 1, 4}, DType::i32), v);
            }),
            "[kv_cache] k is i32: use cast(k, DType::f32)");
  EXPECT_EQ(error_message([&] { cache.rewind(1); }),
            "[kv_cache] rewind by 1: 0 positions are kept, give a number from 0 to that");
  for (int i = 0; i < 5; ++i) cache.append(k, v);
  EXPECT_EQ(
      error_message([&] { cache.rewind(3); }),
      "[kv_cache] rewind by 3: 2 positions are kept (others were evicted by the window), give "
      "a number from 0 to that");
  EXPECT_EQ(error_message([&] { cache.truncate(2); }),
            "[kv_cache] truncate at 2: positions [3, 5) are kept, give one of these or 5");
  const std::vector<std::int64_t> beyond = {0, 2};
  EXPECT_EQ(error_message([&] { cache.reorder(beyond); }),
            "[kv_cache] from[1] is 2: the batch has 2 sequences, numbered from 0");
  EXPECT_EQ(cache.length(), 2);
}

}  // namespace
}  // namespace heed

// Sums over ranks: the bits of one process, whatever the number of ranks.
#include "heed/distributed/tensor_exchange.h"

#include <gtest/gtest.h>

#include <mutex>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/distributed/thread_ranks.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

constexpr std::int64_t kShards = 8;

SumList like(DType dtype) {
  return {zeros({300, 401}, dtype), zeros({7}, dtype), zeros({2, 65536}, dtype), zeros({1}, dtype)};
}

// The gradients of a shard: its own random numbers. The second tensor is absent in odd shards, the
// last one everywhere; shard 5 has nothing at all.
SumList shard(std::int64_t number, DType dtype) {
  Generator generator(static_cast<std::uint64_t>(100 + number));
  SumList list;
  for (const Tensor& tensor : like(dtype))
    list.push_back(normal(tensor.shape(), 0.0, 1.0, generator, dtype));
  if (number % 2 == 1) list[1] = {};
  list[3] = {};
  if (number == 5) list.assign(list.size(), {});
  return list;
}

struct Result {
  SumList sum;
  double squares;
};

// What all ranks have after a step that doubles their own parts.
Result run(int size, DType dtype, Wire wire = Wire::f32, std::int64_t bucket = 1) {
  Result result;
  std::mutex mutex;
  test::ThreadRanks(size).run_all([&](Communicator& ranks) {
    TensorExchange exchange(ranks, like(dtype),
                            {.shards = kShards, .wire = wire, .bucket = bucket});
    std::vector<SumList> of_nodes;
    for (const ShardRange& node : exchange.nodes()) {
      of_nodes.push_back(tree_sum<SumList>(
          node, [](const ShardRange& n) { return n.size() == 1; },
          [&](const ShardRange& n) { return shard(n.begin, dtype); },
          [&](SumList& a, SumList b) { add_lists(a, std::move(b), wire); }));
    }
    const SumList sum = exchange.sum(std::move(of_nodes));
    const double squares = exchange.sum_of_squares(sum, 3);
    SumList all = like(dtype);
    for (std::size_t t = 0; t < all.size(); ++t) {
      if (sum[t].defined()) copy_into(all[t], sum[t]);
    }
    exchange.share(all);
    EXPECT_FALSE(sum[3].defined());
    const std::lock_guard lock(mutex);
    if (result.sum.empty()) result = {all, squares};
    EXPECT_EQ(squares, result.squares);
    for (std::size_t t = 0; t < all.size(); ++t) {
      EXPECT_TRUE(test::same_bits(all[t], result.sum[t])) << "rank " << ranks.rank();
    }
  });
  return result;
}

TEST(TensorExchange, AnyNumberOfRanksGivesTheSameBits) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Result one = run(1, dtype);
    EXPECT_GT(one.squares, 0.0);
    for (const int size : {2, 3, 4, 7, 8}) {
      const Result many = run(size, dtype);
      EXPECT_EQ(many.squares, one.squares) << size;
      for (std::size_t t = 0; t < one.sum.size(); ++t) {
        EXPECT_TRUE(test::same_bits(many.sum[t], one.sum[t])) << size << " ranks, tensor " << t;
      }
    }
  }
}

TEST(TensorExchange, AnyNumberOfRanksGivesTheSameBitsWithBf16) {
  const Result one = run(1, DType::f32, Wire::bf16), exact = run(1, DType::f32);
  for (const int size : {2, 3, 4, 7, 8}) {
    const Result many = run(size, DType::f32, Wire::bf16);
    EXPECT_EQ(many.squares, one.squares) << size;
    for (std::size_t t = 0; t < one.sum.size(); ++t) {
      EXPECT_TRUE(test::same_bits(many.sum[t], one.sum[t])) << size << " ranks, tensor " << t;
    }
  }
  EXPECT_NE(one.squares, exact.squares) << "sums are rounded";
  EXPECT_NEAR(one.squares / exact.squares, 1.0, 0.01);
  EXPECT_THROW(run(2, DType::f64, Wire::bf16), Error);
}

// Elements that a rank owns.
std::int64_t owned(const Partition& partition, int rank) {
  std::int64_t elements = 0;
  for (std::size_t b = 0; b < partition.buckets(); ++b)
    elements += partition.segment(b, rank).size();
  return elements;
}

TEST(TensorExchange, BucketsDoNotChangeTheBits) {
  const Result fine = run(3, DType::f32), coarse = run(3, DType::f32, Wire::f32, 1 << 30);
  EXPECT_EQ(fine.squares, coarse.squares);
  for (std::size_t t = 0; t < fine.sum.size(); ++t) {
    EXPECT_TRUE(test::same_bits(fine.sum[t], coarse.sum[t])) << "tensor " << t;
  }
}

// Ranks give tensors in different orders, one of them nearly none.
TEST(TensorExchange, TensorsMayComeInAnyOrder) {
  test::ThreadRanks(4).run_all([](Communicator& ranks) {
    TensorExchange exchange(ranks, like(DType::f32), {.shards = 4, .bucket = 1});
    ASSERT_GT(exchange.partition().buckets(), 1u);
    const SumList own = shard(2 * ranks.rank(), DType::f32);
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t t = (i + static_cast<std::size_t>(ranks.rank())) % own.size();
        if (ranks.rank() != 2 || t == 0) exchange.put(t, std::span(&own[t], 1));
      }
      exchange.put_rest();
      const SumList sum = exchange.take_sum();
      for (std::size_t t = 0; t < own.size(); ++t) {
        Tensor expected = add_sums(shard(0, DType::f32)[t], shard(2, DType::f32)[t]);
        const Tensor right = shard(6, DType::f32)[t];
        expected = add_sums(expected, t != 0 ? right : add_sums(shard(4, DType::f32)[t], right));
        const ElementRange part = exchange.partition().part(ranks.rank(), t);
        EXPECT_EQ(sum[t].defined(), expected.defined()) << t;
        for (std::int64_t e = part.begin; sum[t].defined() && e < part.end; ++e) {
          ASSERT_EQ(sum[t].data<float>()[e], expected.data<float>()[e]) << t << ", " << e;
        }
      }
    }
  });
}

TEST(TensorExchange, SendsHalfTheBytesOfGradientsWithBf16) {
  test::ThreadRanks(4).run_all([](Communicator& ranks) {
    TensorExchange exchange(ranks, like(DType::f32), {.shards = kShards, .wire = Wire::bf16});
    exchange.sum({shard(0, DType::f32)});
    const std::int64_t total = exchange.partition().total();
    const std::int64_t own = owned(exchange.partition(), ranks.rank());
    EXPECT_EQ(exchange.bytes_sent(), 2 * (total - own));
  });
}

TEST(TensorExchange, SendsEachElementOnceToAndFromItsOwner) {
  test::ThreadRanks(4).run_all([](Communicator& ranks) {
    TensorExchange exchange(ranks, like(DType::f32), {.shards = kShards});
    exchange.sum({shard(0, DType::f32)});
    SumList all = like(DType::f32);
    exchange.share(all);
    const std::int64_t total = exchange.partition().total();
    const std::int64_t own = owned(exchange.partition(), ranks.rank());
    EXPECT_EQ(exchange.bytes_sent(), 4 * ((total - own) + 3 * own));
  });
}

TEST(TensorExchange, RankZeroGathersParts) {
  for (const int size : {1, 3}) {
    test::ThreadRanks(size).run_all([&](Communicator& ranks) {
      TensorExchange exchange(ranks, like(DType::f32), {.shards = kShards});
      for (std::size_t t = 0; t < 4; ++t) {
        const ElementRange part = exchange.partition().part(ranks.rank(), t);
        Tensor own = empty({part.size()});
        for (std::int64_t i = 0; i < part.size(); ++i) {
          own.mutable_data<float>()[i] = static_cast<float>(part.begin + i);
        }
        const Tensor whole = exchange.gather(t, own);
        EXPECT_EQ(whole.defined(), ranks.is_first());
        if (!whole.defined()) continue;
        EXPECT_EQ(whole.shape(), like(DType::f32)[t].shape());
        for (std::int64_t i = 0; i < whole.numel(); ++i) {
          ASSERT_EQ(whole.data<float>()[i], static_cast<float>(i));
        }
      }
    });
  }
}

TEST(TensorExchange, TooManyRanksForTheShardsIsAnError) {
  const auto errors = test::ThreadRanks(3).run(
      [](Communicator& ranks) { TensorExchange exchange(ranks, like(DType::f32), {.shards = 2}); });
  for (const std::exception_ptr& error : errors) {
    EXPECT_EQ(
        error_message([&] { std::rethrow_exception(error); }).find("[ranks] 3 ranks for 2 shards"),
        0u);
  }
}

}  // namespace
}  // namespace heed

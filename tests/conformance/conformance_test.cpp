// The checks find what is broken: copies of multi-head attention, each with one mistake.
#include "tests/conformance/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/variants/multi_head.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"

namespace heed::test {
namespace {

using testing::IsEmpty;
using testing::Not;

// A layer that hands on to a sound one, for others to break.
class Broken : public AttentionLayer {
 public:
  void visit(ParameterVisitor& visitor) override { inner.visit(visitor); }
  Tensor operator()(const AttentionInput& in) const override { return inner(in); }
  Tensor weights(const AttentionInput& in) const override { return inner.weights(in); }
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override {
    return inner.start(from);
  }
  Tensor step(const Tensor& x, DecodeState& state) const override { return inner.step(x, state); }

 protected:
  Generator generator{3};
  MultiHeadAttention inner{{.embed = 16, .heads = 2}, generator};
};

template <typename Layer>
Failures find(Failures (*check)(const Subject&)) {
  return check({"broken", {.decodes = true}, [] { return std::make_unique<Layer>(); }});
}

TEST(ConformanceSuite, ASoundLayerPasses) {
  for (const Check& check : all_checks()) EXPECT_THAT(find<Broken>(check.run), IsEmpty());
}

TEST(ConformanceSuite, FindsLengthsThatAreNotKept) {
  struct Layer : Broken {
    AttentionInput without(AttentionInput in) const {
      in.lengths = {};
      return in;
    }
    Tensor operator()(const AttentionInput& in) const override { return inner(without(in)); }
    Tensor weights(const AttentionInput& in) const override { return inner.weights(without(in)); }
  };
  EXPECT_THAT(find<Layer>(check_hidden), Not(IsEmpty()));
  EXPECT_THAT(find<Layer>(check_weights), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsAFutureThatShows) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      return inner(in) + 1e-3 * mean(in.x, {1}, {.keep_axes = true});
    }
  };
  EXPECT_THAT(find<Layer>(check_hidden), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsAGradientThatIsLost) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      AttentionInput cut = in;
      cut.memory = in.source().detach();
      return inner(cut);
    }
  };
  EXPECT_THAT(find<Layer>(check_gradients), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsSequencesThatMix) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      return inner(in) + 1e-3 * mean(in.x, {0}, {.keep_axes = true});
    }
  };
  EXPECT_THAT(find<Layer>(check_independence), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsDecodingThatForgets) {
  struct Layer : Broken {
    Tensor step(const Tensor& x, DecodeState& state) const override {
      static_cast<void>(state);
      return inner.step(x, *inner.start({.batch = x.size(0)}));
    }
  };
  EXPECT_THAT(find<Layer>(check_decoding), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsBeamsThatStayWhereTheyAre) {
  struct Stuck : DecodeState {
    void reorder(std::span<const std::int64_t>) override {}
    std::unique_ptr<DecodeState> inner;
  };
  struct Layer : Broken {
    std::unique_ptr<DecodeState> start(const DecodeStart& from) const override {
      auto state = std::make_unique<Stuck>();
      state->inner = inner.start(from);
      return state;
    }
    Tensor step(const Tensor& x, DecodeState& state) const override {
      return inner.step(x, *dynamic_cast<Stuck&>(state).inner);
    }
  };
  EXPECT_THAT(find<Layer>(check_decoding), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsParametersThatAreNotSaved) {
  struct Layer : Broken {
    Layer() { extra = randn({16}); }
    Tensor operator()(const AttentionInput& in) const override { return inner(in) + extra; }
    Tensor extra;  // drawn anew for each layer, and not visited
  };
  EXPECT_THAT(find<Layer>(check_saving), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsADifferenceBetweenPrecisions) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      const Tensor y = inner(in);
      return in.x.dtype() == DType::f32 ? y * 1.0001 : y;
    }
  };
  EXPECT_THAT(find<Layer>(check_precision), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsSizesThatAreRefused) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      if (in.x.size(1) == 0) throw Error("[broken] nothing asks");
      return inner(in);
    }
  };
  EXPECT_THAT(find<Layer>(check_sizes), Not(IsEmpty()));
}

}  // namespace
}  // namespace heed::test

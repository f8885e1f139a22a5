// The checks find mistakes: copies of multi-head attention, each with one mistake.
#include "tests/conformance/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/variants/multi_head.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed::test {
namespace {

using testing::IsEmpty;
using testing::Not;

// A layer that passes every call on to a correct one; tests derive broken ones from it.
class Broken : public AttentionLayer {
 public:
  void visit(ParameterVisitor& visitor) override { inner.visit(visitor); }
  Tensor operator()(const AttentionInput& in) const override { return inner(in); }
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override {
    return inner.start(from);
  }
  Tensor step(const Tensor& x, DecodeState& state) const override { return inner.step(x, state); }

 protected:
  Generator generator{3};
  MultiHeadAttention inner{{.embed = 16, .heads = 2}, generator};
};

template <typename Layer>
Failures find(Failures (*check)(const Subject&), Traits traits = {.decodes = true}) {
  return check({"broken", traits, [] { return std::make_unique<Layer>(); }});
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

TEST(ConformanceSuite, FindsAStraightThroughGradientThatIsLost) {
  const Traits traits{.gradient = Gradient::straight_through};
  EXPECT_THAT(find<Broken>(check_gradients, traits), IsEmpty());
  struct OfAll : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      const NoGrad off;
      return inner(in);
    }
  };
  EXPECT_THAT(find<OfAll>(check_gradients, traits), Not(IsEmpty()));
  struct OfX : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      AttentionInput cut = in;
      cut.memory = in.source();
      cut.x = in.x.detach();
      return inner(cut);
    }
  };
  EXPECT_THAT(find<OfX>(check_gradients, traits), Not(IsEmpty()));
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

TEST(ConformanceSuite, FindsStepsWithOtherWeights) {
  struct Other : Broken {
    Tensor step(const Tensor& x, DecodeState& state) const override {
      const Tensor y = inner.step(x, state);
      if (state.weights != nullptr) *state.weights = *state.weights * 1.001;
      return y;
    }
  };
  EXPECT_THAT(find<Other>(check_decoding), Not(IsEmpty()));
  struct Fewer : Broken {  // only steps of several positions give weights
    Tensor step(const Tensor& x, DecodeState& state) const override {
      const Tensor y = inner.step(x, state);
      if (state.weights != nullptr && x.size(1) == 1) *state.weights = {};
      return y;
    }
  };
  EXPECT_THAT(find<Fewer>(check_decoding), Not(IsEmpty()));
  struct Reused : Broken {  // each step writes into the weights of the step before
    Tensor step(const Tensor& x, DecodeState& state) const override {
      const Tensor y = inner.step(x, state);
      if (state.weights == nullptr) return y;
      if (before.defined()) copy_into(before, zeros(before.shape(), before.dtype()));
      before = *state.weights;
      return y;
    }
    mutable Tensor before;
  };
  EXPECT_THAT(find<Reused>(check_decoding), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsStepsThatObservingChanges) {
  struct Layer : Broken {
    Tensor step(const Tensor& x, DecodeState& state) const override {
      const Tensor y = inner.step(x, state);
      return state.weights != nullptr ? y * (1.0 + 1e-6) : y;
    }
  };
  EXPECT_THAT(find<Layer>(check_decoding), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsCallsThatObservingChanges) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      const Tensor y = inner(in);
      return in.weights != nullptr ? y * (1.0 + 1e-6) : y;
    }
  };
  EXPECT_THAT(find<Layer>(check_weights), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsWeightsThatChangeFromCallToCall) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      const Tensor y = inner(in);
      if (in.weights != nullptr) *in.weights = *in.weights * (1.0 + 1e-3 * ++calls);
      return y;
    }
    mutable int calls = 0;
  };
  EXPECT_THAT(find<Layer>(check_weights), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsWeightsThatAreMissing) {
  struct Layer : Broken {
    Tensor operator()(const AttentionInput& in) const override {
      AttentionInput blind = in;
      blind.weights = nullptr;
      return inner(blind);
    }
  };
  EXPECT_THAT(find<Layer>(check_weights), Not(IsEmpty()));
  EXPECT_THAT(find<Layer>(check_sizes), Not(IsEmpty()));
}

TEST(ConformanceSuite, FindsParametersThatAreNotSaved) {
  struct Layer : Broken {
    Layer() { extra = randn({16}); }
    Tensor operator()(const AttentionInput& in) const override { return inner(in) + extra; }
    Tensor extra;  // random for each layer, and not visited
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
      if (in.x.size(1) == 0) throw Error("[broken] no queries");
      return inner(in);
    }
  };
  EXPECT_THAT(find<Layer>(check_sizes), Not(IsEmpty()));
}

}  // namespace
}  // namespace heed::test

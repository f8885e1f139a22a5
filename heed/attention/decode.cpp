#include "heed/attention/decode.h"

#include <deque>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/kernels/attention/decode.h"
#include "heed/kernels/attention/forward.h"
#include "heed/kernels/attention/stages.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::AttentionShape;
using kernels::Heads;

AttentionShape check_shape(const Tensor& q, const Tensor& k, const Tensor& v) {
  HEED_CHECK(q.defined() && q.dtype() == DType::f32,
             "[attention_decode] q is {}: queries must be f32, whatever the cache holds",
             q.defined() ? name_of(q.dtype()) : "undefined");
  HEED_CHECK(q.rank() == 4, "[attention_decode] q {}: it must be [B, H, Tq, D]",
             to_string(q.shape()));
  HEED_CHECK(q.size(0) == k.size(0),
             "[attention_decode] q {} has {} sequences, the cache {}: B must agree",
             to_string(q.shape()), q.size(0), k.size(0));
  HEED_CHECK(q.size(1) >= 1 && q.size(1) % k.size(1) == 0,
             "[attention_decode] q {} has {} heads, the cache {}: H must be a multiple of G",
             to_string(q.shape()), q.size(1), k.size(1));
  return {.B = q.size(0),
          .H = q.size(1),
          .G = k.size(1),
          .Tq = q.size(2),
          .Tk = k.size(2),
          .D = k.size(3),
          .Dv = v.size(3)};
}

// What a score makes of queries and keys. Keys in bf16 stay as they are if the score wants nothing
// of them but the dot product; whether it does is tried on a cache of no positions.
ScoreOperands prepare(const Score& score, const Tensor& q, const Tensor& k) {
  if (k.dtype() == DType::f32) return score.prepare(q, k);
  const Tensor none = empty({k.size(0), k.size(1), 0, k.size(3)});
  ScoreOperands operands = score.prepare(q, none);
  if (operands.k.storage() != none.storage()) return score.prepare(q, cast_data(k, DType::f32));
  operands.k = k;
  return operands;
}

// A spec as the kernels take it, with all that it refers to.
class Program {
 public:
  Program(const AttentionShape& shape, const AttentionSpec& spec, double scale)
      : see_(spec.see.bind(shape)) {
    program_.shape = shape;
    program_.scale = static_cast<float>(scale);
    for (const Modifier& stage : spec.modify) add(stage, modify_);
    for (const Reweight& stage : spec.reweight) add(stage, reweight_);
    program_.modify = modify_;
    program_.see = see_.get();
    program_.normalise = spec.normalise.kind();
    program_.reweight = reweight_;
    if (const Tensor& sinks = spec.normalise.sinks(); sinks.defined()) {
      check_parameter(spec.normalise.name(), "sinks", sinks, DType::f32);
      HEED_CHECK(sinks.shape() == Shape({shape.H}),
                 "[attention_decode] sinks of {} {}: there must be one for each of {} heads",
                 spec.normalise.name(), to_string(sinks.shape()), shape.H);
      sinks_ = contiguous_copy(sinks);
      program_.sinks = sinks_.data<float>();
    }
  }
  Program(const Program&) = delete;  // the program refers to the lists
  Program& operator=(const Program&) = delete;

  const kernels::AttentionProgram<float>& operator*() const { return program_; }

 private:
  void add(const Stage& stage, std::vector<kernels::TileStage<float>*>& list) {
    HEED_CHECK(list.size() < kernels::kMaxStages,
               "[attention_decode] more than {} stages in one list: join some of them",
               kernels::kMaxStages);
    const auto& tensors = tensors_.emplace_back(stage.impl()->inputs(program_.shape, DType::f32));
    std::vector<Tensor> no_gradients(tensors.size());
    auto bound = stage.impl()->bind_f32({program_.shape, tensors, no_gradients});
    if (bound == nullptr) return;
    list.push_back(bound.get());
    stages_.push_back(std::move(bound));
  }

  kernels::AttentionProgram<float> program_;
  std::unique_ptr<kernels::Visibility> see_;
  std::deque<std::vector<Tensor>> tensors_;
  std::vector<TileStagePtr<float>> stages_;
  std::vector<kernels::TileStage<float>*> modify_, reweight_;
  Tensor sinks_;
};

// x itself if its rows are contiguous, else a copy.
Tensor with_whole_rows(const Tensor& x) {
  return x.size(3) == 1 || x.strides()[3] == 1 ? x : contiguous_copy(x);
}

template <typename T>
Heads<const T> heads_of(const Tensor& x) {
  return {x.data<T>(), x.strides()[0], x.strides()[1], x.strides()[2]};
}

template <typename T>
kernels::DecodeCall<T> call_of(const Tensor& q, const Tensor& k, const Tensor& v, Tensor& output) {
  const Strides& to = output.strides();
  return {.q = heads_of<float>(q),
          .k = heads_of<T>(k),
          .v = heads_of<T>(v),
          .output = {output.mutable_data<float>(), to[0], to[1], to[2]},
          .log_sum_exp = {}};
}

}  // namespace

Tensor attention_decode(const Tensor& q, const KvCache& cache, const AttentionSpec& spec) {
  const NoGrad no_grad;
  const Tensor v = cache.values();  // [B, G, Tk, Dv]
  AttentionShape shape = check_shape(q, cache.keys(), v);
  const ScoreOperands operands = prepare(spec.score, q, cache.keys());
  const Tensor queries = with_whole_rows(operands.q);             // [B, H, Tq, D]
  const Tensor k = with_whole_rows(operands.k);                   // [B, G, Tk, D]
  Tensor output = empty({shape.B, shape.H, shape.Tq, shape.Dv});  // [B, H, Tq, Dv]
  shape.D = queries.size(3);
  const Program program(shape, spec, operands.scale);
  const bool few = kernels::decode_is_better(shape) && kernels::can_decode(*program);
  if (few && k.dtype() == DType::bf16) {
    kernels::attention_decode(*program, call_of<BFloat16>(queries, k, v, output));
    return output;
  }
  // Tiles are made of f32, and so are keys that a score has changed.
  const Tensor k32 = cast_data(k, DType::f32), v32 = cast_data(v, DType::f32);
  const auto call = call_of<float>(queries, k32, v32, output);
  if (few) {
    kernels::attention_decode(*program, call);
  } else {
    kernels::attention_forward(*program, {call.q, call.k, call.v, call.output, {}});
  }
  return output;
}

}  // namespace heed

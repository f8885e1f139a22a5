#include "heed/nn/feed_forward.h"

#include "heed/ops/elementwise.h"

namespace heed {

FeedForward::FeedForward(const FeedForwardConfig& config, Generator& generator)
    : linear1({.in = config.size,
               .out = config.hidden,
               .bias = config.bias,
               .activation = config.activation},
              generator),
      linear2({.in = config.hidden, .out = config.size, .bias = config.bias}, generator),
      dropout({.p = config.dropout}) {}

void FeedForward::visit(ParameterVisitor& visitor) {
  visitor("linear1", linear1);
  visitor("linear2", linear2);
  visitor("dropout", dropout);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  const Tensor h = dropout(linear1(x));  // […, hidden]
  return linear2(h);                     // […, size]
}

GatedFeedForward::GatedFeedForward(const GatedFeedForwardConfig& config, Generator& generator)
    : gate_proj({.in = config.size,
                 .out = config.hidden,
                 .bias = config.bias,
                 .activation = config.activation},
                generator),
      up_proj({.in = config.size, .out = config.hidden, .bias = config.bias}, generator),
      down_proj({.in = config.hidden, .out = config.size, .bias = config.bias}, generator),
      dropout({.p = config.dropout}) {}

void GatedFeedForward::visit(ParameterVisitor& visitor) {
  visitor("gate_proj", gate_proj);
  visitor("up_proj", up_proj);
  visitor("down_proj", down_proj);
  visitor("dropout", dropout);
}

Tensor GatedFeedForward::operator()(const Tensor& x) const {
  const Tensor h = dropout(gate_proj(x) * up_proj(x));  // […, hidden]
  return down_proj(h);                                  // […, size]
}

}  // namespace heed

#include "tests/conformance/subject.h"

#include <algorithm>

#include "heed/attention/choice.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed::test {

Subject subject_of(const Mechanism& mechanism, std::string_view more) {
  std::vector<std::string> options = {fmt::format("embed={}", kFeatures)};
  for (const io::FieldInfo& option : mechanism.options()) {
    if (option.path == "heads") options.push_back("heads=2");
  }
  for (const std::string& option : sample_options(mechanism)) options.push_back(option);
  for (const std::string& option : split_options(more)) options.push_back(option);
  return {std::string(mechanism.name), mechanism.traits, [&mechanism, options] {
            Generator generator(5);
            auto layer = make_attention(mechanism.name, options, generator);
            // Parameters that start at zero (biases, gates) would hide their mistakes.
            for (Tensor& parameter : layer->parameters()) {
              const Tensor noise = normal(parameter.shape(), 0.0, 0.1, generator);
              for (std::int64_t i = 0; i < parameter.numel(); ++i) {
                parameter.mutable_data<float>()[i] += noise.data<float>()[i];
              }
            }
            layer->eval();
            return layer;
          }};
}

std::vector<Mode> modes_of(const Traits& traits) {
  std::vector<Mode> modes;
  for (const bool memory : {false, true}) {
    if (memory ? !traits.cross : !traits.self) continue;
    const std::string whom = memory ? "memory" : "self";
    modes.push_back({.name = whom, .memory = memory});
    if (traits.lengths) modes.push_back({whom + ", lengths", memory, false, true, false});
    if (traits.mask) modes.push_back({whom + ", mask", memory, false, false, true});
    if (!memory && traits.causal) modes.push_back({whom + ", causal", memory, true, false, false});
  }
  return modes;
}

std::int64_t length_of(std::int64_t b, std::int64_t Tk) {
  return std::max<std::int64_t>(0, Tk - b);
}

bool sees(std::int64_t i, std::int64_t j) { return (i + 2 * j) % 5 != 0 && i != 2; }

AttentionInput input_of(const Traits& traits, const Mode& mode, Sizes sizes, DType dtype) {
  Generator generator(77);
  const auto random = [&](const Shape& shape) { return normal(shape, 0.0, 1.0, generator, dtype); };
  AttentionInput in;
  if (traits.form == Form::picture) {
    in.x = random({sizes.B, kFeatures, sizes.Tq > 0 ? 2 : 0, sizes.Tq});
  } else {
    in.x = random({sizes.B, sizes.Tq, kFeatures});
  }
  if (mode.memory) in.memory = random({sizes.B, sizes.Tk, kFeatures});
  in.causal = mode.causal;
  if (mode.lengths) {
    in.lengths = empty({sizes.B}, DType::i64);
    for (std::int64_t b = 0; b < sizes.B; ++b) {
      in.lengths.mutable_data<std::int64_t>()[b] = length_of(b, in.source().size(1));
    }
  }
  if (mode.mask) in.mask = mask_fn([](int, int, int i, int j) { return sees(i, j); });
  return in;
}

Tensor run(const AttentionLayer& layer, const AttentionInput& in) {
  const Generator before = default_generator();
  default_generator() = Generator(9);
  const Tensor y = layer(in);
  default_generator() = before;
  return y;
}

AttentionInput sequence(const AttentionInput& in, std::int64_t b) {
  const auto one = [b](const Tensor& x) {
    return x.defined() ? clone_data(view::slice(x, 0, b, b + 1)) : x;
  };
  AttentionInput part = in;
  part.x = one(in.x);
  part.memory = one(in.memory);
  part.lengths = one(in.lengths);
  return part;
}

}  // namespace heed::test

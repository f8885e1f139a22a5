// Tensors and gradients: fits a line to noisy points by gradient descent, and checks a gradient by
// finite differences.
#include <fmt/format.h>
#include <heed/heed.h>

int main() {
  using namespace heed;
  Generator generator(7);
  const Tensor x = uniform({200}, -1.0, 1.0, generator);
  const Tensor y = 3.0 * x - 0.5 + normal({200}, 0.0, 0.1, generator);

  Tensor slope = scalar(0.0).requires_grad();
  Tensor offset = scalar(0.0).requires_grad();
  Sgd optimizer({{"slope", slope}, {"offset", offset}});
  for (int update = 0; update < 200; ++update) {
    const Tensor loss = mean(square(slope * x + offset - y));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step({.rate = 0.3});
    if (update % 40 == 0) fmt::print("update {:>3}  loss {:.4f}\n", update, loss.item());
  }
  fmt::print("y = {:.2f} x {:+.2f}   (drawn from 3 x - 0.5)\n", slope.item(), offset.item());

  // The gradient of any composition of ops can be checked against finite differences, in double.
  const Tensor inputs[] = {normal({5, 3}, 0.0, 1.0, generator, DType::f64).requires_grad()};
  const auto f = [](std::span<const Tensor> in) { return softmax(gelu(in[0])); };
  const GradCheckResult check = gradcheck(f, inputs);
  fmt::print("softmax(gelu(x)): the tape and differences differ by {:.1e}\n", check.worst);
  const bool fitted = std::abs(slope.item() - 3.0) < 0.1 && std::abs(offset.item() + 0.5) < 0.1;
  return check.ok && fitted ? 0 : 1;
}

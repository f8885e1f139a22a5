// A minimal program outside heed's tree that links the installed library. It computes a product and
// its gradient, so that GEMM, SIMD kernels, threads and tape are all linked and run.
#include <cstdio>
#include <string>

#include "heed/heed.h"

int main() {
  using namespace heed;
  const Tensor x = from_values({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  Tensor w = from_values({0.5f, -1.0f, 1.0f, 2.0f}, {2, 2}).requires_grad();
  const Tensor loss = sum(relu(matmul(x, w)));
  loss.backward();
  std::printf("heed %s: loss %g, gradient of w[0, 0] %g\n", std::string(version()).c_str(),
              loss.item(), w.grad().data<float>()[0]);
  // Rows of x w: [2.5, 3] and [5.5, 5]; relu changes none of them.
  return loss.item() == 16.0 && w.grad().data<float>()[0] == 4.0f ? 0 : 1;
}

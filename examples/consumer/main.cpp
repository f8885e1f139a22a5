// The smallest program outside heed's own tree that links the installed library.
#include <cstdio>

#include "heed/base/shape.h"

int main() {
  const heed::Shape shape = heed::broadcast_shapes("consumer", {2, 1, 5}, {3, 1});
  std::printf("heed is installed: [2, 1, 5] and [3, 1] broadcast to %s\n",
              heed::to_string(shape).c_str());
  return shape == heed::Shape{2, 3, 5} ? 0 : 1;
}

// The version, the number of threads and the random numbers of the process.
#include <nanobind/stl/string.h>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/base/version.h"
#include "python/bindings/bind.h"
#include "python/bindings/seed.h"

namespace heed::python {
namespace {

// One generator for all Python threads, unlike default_generator(); the interpreter's lock protects
// it.
Generator& generator() {
  static Generator shared;
  return shared;
}

}  // namespace

RandomStream stream_of(std::optional<std::uint64_t> seed) {
  return seed ? RandomStream{*seed, 0} : generator().next();
}

void bind_machine(nanobind::module_& m) {
  namespace nb = nanobind;
  m.attr("version") = std::string(version());
  m.def("get_num_threads", &num_threads, "The number of threads that computations use.");
  m.def("set_num_threads", &set_num_threads, nb::arg("n"),
        "Sets the number of threads; results do not depend on it.");
  m.def(
      "manual_seed", [](std::uint64_t seed) { generator() = Generator(seed); }, nb::arg("seed"),
      "Sets the seed of random numbers for calls without a seed.");
}

}  // namespace heed::python

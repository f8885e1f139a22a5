// The module heed._core: everything that heed exports to Python, in the order of dependence.
#include "python/bindings/bind.h"

NB_MODULE(_core, m) {
  using namespace heed::python;
  // Objects that a program still holds at its end are not leaks.
  nanobind::set_leak_warnings(false);
  m.doc() = "heed's own functions and classes; the package heed has them all under its own name.";
  bind_errors(m);
  bind_machine(m);
  bind_arrays(m);
  bind_masks(m);
  bind_stages(m);
  bind_attention(m);
  bind_recorded(m);
  bind_cache(m);
  bind_registry(m);
  bind_pictures(m);
  bind_translator(m);
  bind_training(m);
}

// The parts of the module heed._core, one function per file.
#pragma once

#include <nanobind/nanobind.h>

namespace heed::python {

void bind_errors(nanobind::module_& m);
void bind_machine(nanobind::module_& m);
void bind_arrays(nanobind::module_& m);
void bind_masks(nanobind::module_& m);
void bind_stages(nanobind::module_& m);
void bind_attention(nanobind::module_& m);
void bind_recorded(nanobind::module_& m);
void bind_cache(nanobind::module_& m);
void bind_registry(nanobind::module_& m);
void bind_pictures(nanobind::module_& m);
void bind_translator(nanobind::module_& m);
void bind_training(nanobind::module_& m);

}  // namespace heed::python

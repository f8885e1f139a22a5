// Masks: which keys a query may see.
#include "heed/attention/mask.h"

#include <nanobind/operators.h>

#include <optional>

#include "heed/attention/masks.h"
#include "python/bindings/array.h"
#include "python/bindings/bind.h"
#include "python/bindings/corner.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

std::int64_t reach(std::optional<std::int64_t> n) { return n.value_or(kUnlimited); }

Mask boolean(nb::handle array) {
  const Tensor seen = array_of("array", array).tensor;
  if (seen.dtype() != DType::boolean) {
    throw_type_error("array: {} elements: a mask is of bool, true where a query may look",
                     name_of(seen.dtype()));
  }
  return boolean_mask(seen);
}

Mask segment_mask(nb::handle ids, nb::handle key_ids) {
  const Tensor queries = integers_of("ids", ids);
  return key_ids.is_none() ? segments(queries) : segments(queries, integers_of("key_ids", key_ids));
}

}  // namespace

void bind_masks(nb::module_& m) {
  nb::class_<Mask>(m, "Mask", "Which keys a query may see; & and | compose masks.")
      .def(nb::self & nb::self, "What both let be seen.")
      .def(nb::self | nb::self, "What either lets be seen.")
      .def("__repr__", [](const Mask& self) { return "heed.Mask(" + self.name() + ")"; });

  m.def(
      "causal", [](nb::handle corner) { return causal(corner_of(corner)); },
      nb::arg("corner") = "top_left", nb::sig("def causal(corner: str | int = 'top_left') -> Mask"),
      "A query sees the key at its own position and those before.\n\n"
      "corner says where the first query stands: 'top_left' at the first key (as PyTorch's "
      "is_causal has it), 'bottom_right' so that the last query stands at the last key (as "
      "decoding "
      "wants it), or the number of the key.");
  m.def(
      "window",
      [](std::optional<std::int64_t> left, std::optional<std::int64_t> right, nb::handle corner) {
        return window(reach(left), reach(right), corner_of(corner));
      },
      nb::arg("left").none(), nb::arg("right").none(), nb::arg("corner") = "top_left",
      nb::sig("def window(left: int | None, right: int | None, corner: str | int = 'top_left') -> "
              "Mask"),
      "A query at position p sees keys p - left to p + right; None: without a limit on that side.");
  m.def(
      "dilated_window",
      [](std::int64_t left, std::int64_t right, std::int64_t step, nb::handle corner) {
        return dilated_window({left, right, step}, corner_of(corner));
      },
      nb::arg("left"), nb::arg("right"), nb::arg("step"), nb::arg("corner") = "top_left",
      nb::sig("def dilated_window(left: int, right: int, step: int, corner: str | int = "
              "'top_left') -> Mask"),
      "A query at position p sees keys p + n step for n from -left to right.");
  m.def(
      "global_positions",
      [](std::vector<std::int64_t> positions, nb::handle corner) {
        return global_positions(std::move(positions), corner_of(corner));
      },
      nb::arg("positions"), nb::arg("corner") = "top_left",
      nb::sig("def global_positions(positions: collections.abc.Sequence[int], corner: str | int = "
              "'top_left') -> Mask"),
      "A query and a key see each other where the position of either is listed; join it by | with "
      "what the others see.");
  m.def(
      "key_lengths", [](nb::handle array) { return key_lengths(integers_of("lengths", array)); },
      nb::arg("lengths"),
      "Padding: queries of sequence b see keys before lengths[b], an array or a list.");
  m.def("segments", &segment_mask, nb::arg("ids"), nb::arg("key_ids") = nb::none(),
        "Several documents in one sequence: query i sees key j where ids[b, i] == key_ids[b, j]; "
        "the same ids serve both unless key_ids is given.");
  m.def("boolean_mask", &boolean, nb::arg("array"),
        "Query i sees key j where array[b, h, i, j] is true; axes may be 1 or, from the left, "
        "absent.");
}

}  // namespace heed::python

// Masks: which keys a query may attend to.
#include "heed/attention/masks.h"

#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>

#include <memory>
#include <optional>
#include <utility>

#include "heed/attention/describe.h"
#include "heed/attention/masks/block_pattern.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "python/bindings/array.h"
#include "python/bindings/bind.h"
#include "python/bindings/corner.h"
#include "python/bindings/foreign_memory.h"
#include "python/bindings/number.h"
#include "python/bindings/python_error.h"
#include "python/bindings/tree.h"

namespace heed::python {
namespace {

std::int64_t limit(const char* name, std::optional<Whole> n) {
  return n ? n->value(name) : kUnlimited;
}

Tensor booleans_of(const char* name, nb::handle array) {
  const Tensor visible = array_of(name, array).tensor;
  if (visible.dtype() != DType::boolean) {
    throw_type_error("{}: {} elements: a mask is of bool, true where a query may attend to a key",
                     name, name_of(visible.dtype()));
  }
  return visible;
}

Mask segment_mask(nb::handle ids, nb::handle key_ids) {
  const Tensor queries = integers_of("ids", ids);
  return key_ids.is_none() ? segments(queries) : segments(queries, integers_of("key_ids", key_ids));
}

Mask interval_mask(nb::handle first, nb::handle last) {
  const auto read = [](const char* name, nb::handle array) {
    return cast_data(integers_of(name, array), DType::i64);
  };
  return row_intervals(read("first", first), read("last", last));
}

Mask blocks(std::int64_t size, nb::handle pairs) {
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const auto listed = [](const Pairs& from) {
    std::vector<BlockPair> to;
    for (const auto& [query, key] : from) to.push_back({query, key});
    return to;
  };
  if (Pairs all; nb::try_cast(pairs, all)) return block_list(size, listed(all));
  std::vector<Pairs> of_heads;
  if (!nb::try_cast(pairs, of_heads)) {
    throw_type_error(
        "pairs: give a list of (query block, key block), or one such list for each head");
  }
  std::vector<std::vector<BlockPair>> lists;
  for (const Pairs& of_head : of_heads) lists.push_back(listed(of_head));
  return block_list(size, std::move(lists));
}

FarBlocks far_blocks(const std::string& name) {
  for (const auto& [value, known] : enum_names(FarBlocks{})) {
    if (known == name) return value;
  }
  fail("[block_pattern] far '{}': give 'fixed' or 'strided'", name);
}

nb::object lengths(nb::handle ids, std::int64_t end, bool end_is_padding) {
  const EndSymbol symbol = end_is_padding ? EndSymbol::is_padding : EndSymbol::counts;
  return to_numpy(lengths_by_end_symbol(integers_of("ids", ids), end, symbol));
}

// A mask from a Python function. A call of attention evaluates it once, on index arrays that
// broadcast to [B, H, Tq, Tk], before its tiles are computed without the interpreter's lock.
class PythonMask : public MaskImpl {
 public:
  // The last copy may be destroyed on any thread, with or without the lock.
  explicit PythonMask(nb::object function)
      : function_(function.release().ptr(),
                  [](PyObject* f) { with_interpreter([f] { Py_DECREF(f); }); }) {}
  std::string name() const override { return "mask_fn"; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    const nb::gil_scoped_acquire lock;
    const nb::module_ numpy = nb::module_::import_("numpy");
    const auto indices = [&](std::int64_t n, int axes_after) {
      nb::list sizes;
      sizes.append(n);
      for (int i = 0; i < axes_after; ++i) sizes.append(1);
      return numpy.attr("arange")(n).attr("reshape")(sizes);
    };
    const nb::object result = nb::handle(function_.get())(
        indices(shape.B, 3), indices(shape.H, 2), indices(shape.Tq, 1), indices(shape.Tk, 0));
    const nb::object array = numpy.attr("asarray")(result);
    return boolean_mask(booleans_of("result of the function of mask_fn", array)).bind(shape);
  }

 private:
  std::shared_ptr<PyObject> function_;
};

Mask function_mask(nb::object function) {
  if (PyCallable_Check(function.ptr()) == 0) {
    throw_type_error("function: {} cannot be called", type_of(function));
  }
  return make_mask<PythonMask>(std::move(function));
}

void bind_position_masks(nb::module_& m) {
  m.def(
      "causal", [](nb::handle corner) { return causal(corner_of(corner)); },
      nb::arg("corner") = "top_left", nb::sig("def causal(corner: str | int = 'top_left') -> Mask"),
      "A query at position p attends only to keys j <= p.\n\n"
      "corner gives the position of query 0: 'top_left' is key 0 (as in PyTorch's is_causal), "
      "'bottom_right' puts the last query at the last key (as in decoding), an int is the key "
      "itself.");
  m.def(
      "prefix_causal",
      [](std::vector<std::int64_t> prefixes, nb::handle corner) {
        return prefix_causal(std::move(prefixes), corner_of(corner));
      },
      nb::arg("prefixes"), nb::arg("corner") = "top_left",
      nb::sig("def prefix_causal(prefixes: collections.abc.Sequence[int], corner: str | int = "
              "'top_left') -> Mask"),
      "A query at position p of sequence b attends to keys j <= p and to all keys j < prefixes[b], "
      "as in a prefix language model.");
  m.def(
      "window",
      [](std::optional<Whole> left, std::optional<Whole> right, nb::handle corner) {
        return window(limit("left", left), limit("right", right), corner_of(corner));
      },
      nb::arg("left").none(), nb::arg("right").none(), nb::arg("corner") = "top_left",
      nb::sig("def window(left: int | None, right: int | None, corner: str | int = 'top_left') -> "
              "Mask"),
      "A query at position p attends to keys p - left to p + right; None is no limit.");
  m.def(
      "dilated_window",
      [](Whole left, Whole right, Whole step, nb::handle corner) {
        return dilated_window({left.value("left"), right.value("right"), step.value("step")},
                              corner_of(corner));
      },
      nb::arg("left"), nb::arg("right"), nb::arg("step"), nb::arg("corner") = "top_left",
      nb::sig("def dilated_window(left: int, right: int, step: int, corner: str | int = "
              "'top_left') -> Mask"),
      "A query at position p attends to keys p + n step for n from -left to right.");
  m.def(
      "window_around",
      [](nb::handle centres, Real reach) {
        return window_around(floats_of("centres", centres).tensor, reach.value("reach"));
      },
      nb::arg("centres"), nb::arg("reach"),
      "Query i attends to the keys j with |j - centres[b, h, i]| <= reach (Luong et al. 2015, "
      "local-p).\n\n"
      "centres [B, H, Tq] are floats; B and H may be 1. A query whose centre is NaN attends to "
      "every key.");
  m.def(
      "global_positions",
      [](std::vector<std::int64_t> positions, nb::handle corner) {
        return global_positions(std::move(positions), corner_of(corner));
      },
      nb::arg("positions"), nb::arg("corner") = "top_left",
      nb::sig("def global_positions(positions: collections.abc.Sequence[int], corner: str | int = "
              "'top_left') -> Mask"),
      "A query attends to a key where the position of either is listed. Combine it by | with a "
      "mask for the other positions.");
}

void bind_range_masks(nb::module_& m) {
  m.def(
      "key_lengths", [](nb::handle array) { return key_lengths(integers_of("lengths", array)); },
      nb::arg("lengths"),
      "Padding: queries of sequence b attend to the first lengths[b] keys; an array or a list.");
  m.def("lengths_by_end_symbol", &lengths, nb::arg("ids"), nb::arg("end"),
        nb::arg("end_is_padding") = false,
        "The lengths, for key_lengths, of the sequences ids [B, T]: each ends at its first `end`, "
        "which counts unless end_is_padding, or at T if it has none.");
  m.def("key_range", &key_range, nb::arg("first"), nb::arg("last"),
        "Every query attends to keys first to last - 1.");
  m.def("row_intervals", &interval_mask, nb::arg("first"), nb::arg("last"),
        "Query i attends to keys first[b, h, i] to last[b, h, i] - 1; both are integers [B, H, "
        "Tq].");
  m.def("segments", &segment_mask, nb::arg("ids"), nb::arg("key_ids") = nb::none(),
        "Several documents in one sequence: query i attends to key j where ids[b, i] == "
        "key_ids[b, j]. Without key_ids, ids serve for both.");
}

void bind_element_masks(nb::module_& m) {
  m.def("block_list", &blocks, nb::arg("size"), nb::arg("pairs"),
        nb::sig("def block_list(size: int, pairs: collections.abc.Sequence[tuple[int, int]] | "
                "collections.abc.Sequence[collections.abc.Sequence[tuple[int, int]]]) -> Mask"),
        "Block-sparse attention: sequences are cut into blocks of `size` positions, and for each "
        "pair (query block, key block) the queries of one attend to the keys of the other. A list "
        "of lists has one for each head.");
  m.def(
      "block_pattern",
      [](std::int64_t size, std::int64_t local, std::int64_t every, const std::string& far,
         nb::handle corner) {
        return block_pattern({.size = size, .local = local, .every = every, .far = far_blocks(far)},
                             corner_of(corner));
      },
      nb::arg("size") = BlockPattern{}.size, nb::arg("local") = BlockPattern{}.local,
      nb::arg("every") = BlockPattern{}.every, nb::arg("far") = "fixed",
      nb::arg("corner") = "top_left",
      nb::sig("def block_pattern(size: int = 16, local: int = 1, every: int = 4, far: str = "
              "'fixed', corner: str | int = 'top_left') -> Mask"),
      "Block-sparse attention by rule (Child et al. 2019): a query attends to the blocks at most "
      "`local` blocks from its own, and to one in `every` of the others (0: to none).\n\n"
      "far says which: 'fixed' is the last of every `every` blocks, the same for all queries; "
      "'strided' those at a multiple of `every` blocks from the query's own.");
  m.def(
      "boolean_mask", [](nb::handle array) { return boolean_mask(booleans_of("array", array)); },
      nb::arg("array"),
      "Query i attends to key j where array[b, h, i, j] is true; axes may be 1, and leading axes "
      "may be absent.");
  m.def("mask_fn", &function_mask, nb::arg("function"),
        nb::sig("def mask_fn(function: collections.abc.Callable[[typing.Any, typing.Any, "
                "typing.Any, typing.Any], typing.Any]) -> Mask"),
        "Query i attends to key j where function(b, h, i, j) is true.\n\n"
        "The function is called with whole NumPy arrays of indices, not with numbers: b "
        "[B, 1, 1, 1], h [H, 1, 1], i [Tq, 1] and j [Tk]. It returns an array of bool that "
        "broadcasts to [B, H, Tq, Tk], such as lambda b, h, i, j: (i - j) % (h + 1) == 0. It is "
        "called once in each forward and each backward pass, and must give the same result in "
        "both.");
}

}  // namespace

void bind_masks(nb::module_& m) {
  nb::class_<Mask>(m, "Mask",
                   "Which keys a query may attend to; & and | compose masks. heed.masks() lists "
                   "the functions that make them.")
      .def(nb::self & nb::self, "Keys that both masks show.")
      .def(nb::self | nb::self, "Keys that either mask shows.")
      .def("__repr__", [](const Mask& self) { return "heed.Mask(" + self.name() + ")"; });
  m.def(
      "masks", [] { return object_of(*io::find(*describe_mechanisms().table(), "masks")); },
      nb::sig("def masks() -> list[dict[str, typing.Any]]"),
      "All masks: the name of the function and which keys a query may attend to.");
  bind_position_masks(m);
  bind_range_masks(m);
  bind_element_masks(m);
}

}  // namespace heed::python

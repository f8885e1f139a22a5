// heed.ElementPointer and heed.BitMachine.
#include <fmt/format.h>

#include <new>
#include <string>
#include <vector>

#include "heed/base/interrupt.h"
#include "heed/data/bit_sequences.h"
#include "heed/data/element_sets.h"
#include "heed/generation/model_folder.h"
#include "heed/plot/model_attention.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/load_options.h"
#include "python/bindings/model_results.h"
#include "python/bindings/options.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

float number_of(nb::handle value) {
  double number = 0.0;
  HEED_CHECK(nb::try_cast(value, number), "[point] an element has {}: it must be numbers",
             nb::cast<std::string>(nb::str(nb::repr(value))));
  return static_cast<float>(number);
}

// A set of elements: each is a number if the model's elements have one, else as many numbers.
ElementSet set_of(nb::handle elements, std::int64_t features) {
  ElementSet set;
  for (const nb::handle element : elements) {
    const auto before = std::ssize(set.numbers);
    double one = 0.0;
    if (features == 1 && nb::try_cast(element, one)) {
      set.numbers.push_back(static_cast<float>(one));
    } else {
      for (const nb::handle value : element) set.numbers.push_back(number_of(value));
    }
    HEED_CHECK(std::ssize(set.numbers) - before == features,
               "[point] an element has {} numbers: the model reads {} each",
               std::ssize(set.numbers) - before, features);
  }
  HEED_CHECK(!set.numbers.empty(), "[point] the set is empty: give at least one element");
  return set;
}

std::vector<Pointed> point_sets(const ElementPointer& pointer, const std::vector<ElementSet>& sets,
                                const PointOptions& options) {
  ElementCorpus corpus{.features = pointer.model->features()};
  std::vector<std::int32_t> all;
  for (const ElementSet& set : sets) {
    all.push_back(static_cast<std::int32_t>(corpus.size()));
    corpus.add(set);
  }
  if (all.empty()) return {};
  const Unlocked released;
  const ElementBatch batch = make_batch(corpus, all);
  return point(*pointer.model, {batch.elements, batch.lengths}, options,
               [check = InterruptCheck()]() mutable { check(); });
}

nb::list list_of(const std::vector<std::int32_t>& positions) {
  nb::list list;
  for (const std::int32_t position : positions) list.append(position);
  return list;
}

void bind_element_pointer(nb::module_& m) {
  const std::string constructor = constructor_signature();
  PointOptions defaults;
  const io::Fields fields(defaults);
  const std::string one =
      signature("def point(self, elements: collections.abc.Iterable[typing.Any], *", fields,
                ") -> list[int]");
  const std::string many =
      signature("def point_batch(self, sets: collections.abc.Iterable[typing.Any], *", fields,
                ") -> list[list[int]]");
  const std::string one_help =
      help("The positions, from 1, that the model points at in a set of elements.", fields);
  const std::string many_help =
      help("The same for several sets, which are computed together.", fields);
  nb::class_<ElementPointer>(m, "ElementPointer",
                             "A trained model that points at elements of sets, from its folder or "
                             "that of its training run.\n\nSeveral threads may use one at once.")
      .def(
          "__init__",
          [](ElementPointer* self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path folder = path_of("path", path);
            const PackedForm form = form_of("load", options);
            const Unlocked released;
            new (self) ElementPointer(load_element_pointer(folder, form));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()))
      .def(
          "point",
          [](const ElementPointer& self, nb::handle elements, const nb::kwargs& options) {
            const PointOptions chosen = options_of(PointOptions{}, "point", options);
            const ElementSet set = set_of(elements, self.model->features());
            return list_of(point_sets(self, {set}, chosen)[0].positions);
          },
          nb::arg("elements"), nb::arg("options"), nb::sig(one.c_str()), one_help.c_str())
      .def(
          "point_batch",
          [](const ElementPointer& self, nb::handle sets, const nb::kwargs& options) {
            const PointOptions chosen = options_of(PointOptions{}, "point_batch", options);
            std::vector<ElementSet> all;
            for (const nb::handle set : sets) all.push_back(set_of(set, self.model->features()));
            nb::list results;
            for (const Pointed& found : point_sets(self, all, chosen)) {
              results.append(list_of(found.positions));
            }
            return results;
          },
          nb::arg("sets"), nb::arg("options"), nb::sig(many.c_str()), many_help.c_str())
      .def(
          "attention",
          [](const ElementPointer& self, nb::handle elements) {
            const std::string line = elements_line(set_of(elements, self.model->features()));
            const Unlocked released;
            return ModelAttention{.view = plot::attention_of(self, line)};
          },
          nb::arg("elements"),
          nb::sig(
              "def attention(self, elements: collections.abc.Iterable[typing.Any]) -> Attention"),
          "The weights of the glimpses and of the pointer for a set of elements.")
      .def_prop_ro(
          "config", [](const ElementPointer& self) { return model_config(*self.model); },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "The config of the model.")
      .def("__repr__", [](const ElementPointer& self) {
        return fmt::format("<heed.ElementPointer: {} parameters, elements of {} numbers>",
                           self.model->parameter_count(), self.model->features());
      });
}

void bind_bit_machine(nb::module_& m) {
  const std::string constructor = constructor_signature();
  nb::class_<BitMachine>(m, "BitMachine",
                         "A trained model of algorithmic tasks, from its folder or that of its "
                         "training run.\n\nSeveral threads may use one at once.")
      .def(
          "__init__",
          [](BitMachine* self, nb::handle path, const nb::kwargs& options) {
            const std::filesystem::path folder = path_of("path", path);
            const PackedForm form = form_of("load", options);
            const Unlocked released;
            new (self) BitMachine(load_bit_machine(folder, form));
          },
          nb::arg("path"), nb::arg("options"), nb::sig(constructor.c_str()))
      .def(
          "write",
          [](const BitMachine& self, nb::handle vectors, std::int64_t length) {
            std::string line;
            for (const nb::handle vector : vectors) line += nb::cast<std::string>(vector) + " ";
            const BitWidths widths{self.model->inputs(), self.model->outputs()};
            BitSequence read;
            const auto fault = parse_bits(line, widths, read);
            HEED_CHECK(!fault, "[write] the sequence {}", fault->what);
            HEED_CHECK(length >= 1, "[write] length {}: it must be at least 1", length);
            const BitSequence* const one = &read;
            std::vector<float> bits;
            {
              const Unlocked released;
              const BitBatch batch = make_batch({&one, 1}, widths, length);
              bits = written_bits(*self.model, batch.input).to_vector<float>();  // [T, O]
            }
            nb::list results;
            const auto O = static_cast<std::size_t>(widths.output);
            for (std::size_t at = read.input.size() * O; at < bits.size(); at += O) {
              std::string word;
              for (std::size_t i = at; i < at + O; ++i) word += bits[i] > 0 ? '1' : '0';
              results.append(to_str(word));
            }
            return results;
          },
          nb::arg("vectors"), nb::arg("length"),
          nb::sig(
              "def write(self, vectors: collections.abc.Iterable[str], length: int) -> list[str]"),
          "The vectors that the model writes after it has read these. Vectors are texts of 0 and "
          "1.")
      .def_prop_ro(
          "config", [](const BitMachine& self) { return model_config(*self.model); },
          nb::for_getter(nb::sig("def config(self, /) -> dict[str, typing.Any]")),
          "The config of the model.")
      .def("__repr__", [](const BitMachine& self) {
        return fmt::format("<heed.BitMachine: {} parameters, {} bits to read, {} to write>",
                           self.model->parameter_count(), self.model->inputs(),
                           self.model->outputs());
      });
}

}  // namespace

void bind_sequence_models(nb::module_& m) {
  bind_element_pointer(m);
  bind_bit_machine(m);
}

}  // namespace heed::python
